/** An authority and certificates, made on the spot. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

cryptoProvider.set(webcrypto as never);
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const dayMs = 86_400_000;

export interface Pem {
  readonly cert: string;
  readonly key: string;
}

export class Authority {
  readonly certificate: X509Certificate;
  readonly #keys: webcrypto.CryptoKeyPair;

  private constructor(certificate: X509Certificate, keys: webcrypto.CryptoKeyPair) {
    this.certificate = certificate;
    this.#keys = keys;
  }

  static async make(name: string): Promise<Authority> {
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const certificate = await X509CertificateGenerator.createSelfSigned({
      name: `CN=${name}`,
      notBefore: new Date(Date.now() - dayMs),
      notAfter: new Date(Date.now() + dayMs),
      signingAlgorithm: algorithm,
      keys: keys as never,
      extensions: [new BasicConstraintsExtension(true, 1, true)],
    });
    return new Authority(certificate, keys);
  }

  get pem(): string {
    return this.certificate.toString('pem');
  }

  /** A certificate for servers and clients alike; `hosts` are addresses or names of a server. */
  async issue(name: string, hosts: readonly string[] = ['127.0.0.1', 'localhost']): Promise<Pem> {
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const certificate = await X509CertificateGenerator.create({
      subject: `CN=${name}`,
      issuer: this.certificate.subject,
      notBefore: new Date(Date.now() - dayMs),
      notAfter: new Date(Date.now() + dayMs),
      signingAlgorithm: algorithm,
      publicKey: keys.publicKey as never,
      signingKey: this.#keys.privateKey as never,
      extensions: [
        new SubjectAlternativeNameExtension(
          hosts.map((value) => ({
            type: /^[\d.]+$/.test(value) ? ('ip' as const) : ('dns' as const),
            value,
          })),
        ),
      ],
    });
    const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
    return {
      cert: certificate.toString('pem'),
      key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`,
    };
  }
}

/** Writes `<name>.crt` and `<name>.key` into a folder, and gives their paths. */
export function writePem(folder: string, name: string, { cert, key }: Pem): { cert: string; key: string } {
  const paths = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  writeFileSync(paths.cert, cert);
  writeFileSync(paths.key, key, { mode: 0o600 });
  return paths;
}
