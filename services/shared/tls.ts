/**
 * Certificates from files, read again when they change, for gRPC and HTTP alike.
 *
 * T1  What is read is tried before it is used: certificate and key must fit each other. Files that are half
 *     renewed, or broken, leave what was there before.
 * T2  A first read that fails, fails the start, and names the variable.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ChannelCredentials, credentials, experimental, ServerCredentials } from '@grpc/grpc-js';
import { ConfigError } from './config.ts';
import type { Log } from './log.ts';

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  /** Authorities that a peer's certificate must come from. */
  readonly ca: string | undefined;
}

export interface CertificateTexts {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | undefined;
}

type Listener = (texts: CertificateTexts) => void;
type CaListener = Parameters<experimental.CertificateProvider['addCaCertificateListener']>[0];
type IdentityListener = Parameters<experimental.CertificateProvider['addIdentityCertificateListener']>[0];

export class Certificates implements experimental.CertificateProvider {
  readonly #files: CertificateFiles;
  readonly #log: Log;
  readonly #listeners = new Map<unknown, Listener>();
  readonly #timer: NodeJS.Timeout;
  #texts: CertificateTexts;

  /** `names` are the variables that hold the paths, for errors of the first read. */
  constructor(files: CertificateFiles, reloadMs: number, names: readonly string[], log: Log) {
    this.#files = files;
    this.#log = log;
    try {
      this.#texts = read(files);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ConfigError([`${names.join(', ')}: the certificate cannot be used: ${reason}`]);
    }
    this.#timer = setInterval(() => this.reload(), reloadMs);
    this.#timer.unref();
  }

  get current(): CertificateTexts {
    return this.#texts;
  }

  /** Calls `listener` after each change. */
  onChange(listener: Listener): void {
    this.#listeners.set(listener, listener);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#listeners.clear();
  }

  // ---- As grpc-js asks for it: a listener hears what is there, and then each change. --------------

  addCaCertificateListener(listener: CaListener): void {
    this.#add(listener, ({ ca }) => listener(ca === undefined ? null : { caCertificate: ca }));
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.#listeners.delete(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.#add(listener, ({ cert, key }) => listener({ certificate: cert, privateKey: key }));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#listeners.delete(listener);
  }

  #add(key: unknown, listener: Listener): void {
    this.#listeners.set(key, listener);
    process.nextTick(() => {
      if (this.#listeners.has(key)) listener(this.#texts);
    });
  }

  /** Looks at the files now. */
  reload(): void {
    try {
      const texts = read(this.#files);
      if (same(texts, this.#texts)) return;
      this.#texts = texts;
    } catch (error) {
      this.#log.warn({ err: error }, 'changed certificate files cannot be used: the old ones stay');
      return;
    }
    this.#log.info({ cert: this.#files.cert }, 'certificate files changed: new connections use them');
    for (const listener of this.#listeners.values()) listener(this.#texts);
  }
}

function read({ cert, key, ca }: CertificateFiles): CertificateTexts {
  const texts = {
    cert: readFileSync(cert),
    key: readFileSync(key),
    ca: ca === undefined ? undefined : readFileSync(ca),
  };
  checkCertificate(texts.cert);
  if (texts.ca !== undefined) checkCertificate(texts.ca);
  checkKey(texts.key, texts.cert);
  return texts;
}

/** Throws an Error that says what it must be. */
export function checkCertificate(text: Buffer): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    throw new Error('must be a certificate in PEM', { cause });
  }
}

/** Throws an Error that says what it must be, also where the key is of another certificate. */
export function checkKey(text: Buffer, cert: Buffer): void {
  let key: ReturnType<typeof createPrivateKey>;
  try {
    key = createPrivateKey(text);
  } catch (cause) {
    throw new Error('must be a private key in PEM, without a passphrase', { cause });
  }
  if (!checkCertificate(cert).checkPrivateKey(key)) {
    throw new Error('must be the private key of the certificate');
  }
}

function same(a: CertificateTexts, b: CertificateTexts): boolean {
  const ca = a.ca === undefined || b.ca === undefined ? a.ca === b.ca : a.ca.equals(b.ca);
  return a.cert.equals(b.cert) && a.key.equals(b.key) && ca;
}

/** With an authority, clients must show a certificate that comes from it. */
export function serverCredentials(certificates: Certificates | undefined): ServerCredentials {
  if (certificates === undefined) return ServerCredentials.createInsecure();
  const clients = certificates.current.ca !== undefined;
  // What its parameters are called is the wrong way round: first comes what is shown.
  return experimental.createCertificateProviderServerCredentials(
    certificates,
    clients ? certificates : null,
    clients,
  );
}

/** The client's side: shows its certificate, and takes a server whose certificate comes from the authority. */
export function clientCredentials(certificates: Certificates | undefined): ChannelCredentials {
  if (certificates === undefined) return credentials.createInsecure();
  return experimental.createCertificateProviderChannelCredentials(certificates, certificates);
}
