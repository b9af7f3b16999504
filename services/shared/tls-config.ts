/** Settings of TLS, the same for every service, under its prefix. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseTarget } from './address.ts';
import { optionalText, type Values } from './config.ts';
import { checkFile } from './file-check.ts';
import type { Log } from './log.ts';
import { Certificates, checkCertificate, checkKey } from './tls.ts';

/** How often the files are looked at. */
const reloadMs = 10_000;

/** A server: it shows its certificate, and with an authority takes only clients that show theirs. */
export function tlsServerTable<P extends string>(prefix: P) {
  return {
    tlsCertFile: optionalText(`${prefix}TLS_CERT_FILE`, {
      what: 'Certificate (PEM, with its chain) that the servers show. Read again when it changes.',
    }),
    tlsKeyFile: optionalText(`${prefix}TLS_KEY_FILE`, { what: 'Its private key (PEM).' }),
    tlsClientCaFile: optionalText(`${prefix}TLS_CLIENT_CA_FILE`, {
      what: 'Authorities (PEM) of client certificates. Set: every client must show one (mTLS).',
    }),
    tlsClientNames: optionalText(`${prefix}TLS_CLIENT_NAMES`, {
      what: 'Names (common names, with commas between) that a client certificate may carry. Not set: any.',
      check: (value) => {
        if (namesOf(value).has('')) throw new Error('must be names with commas between');
      },
    }),
  };
}

export type TlsServerConfig = Values<ReturnType<typeof tlsServerTable>>;

export function tlsServerProblems(prefix: string, config: TlsServerConfig): string[] {
  const { tlsCertFile, tlsKeyFile, tlsClientCaFile, tlsClientNames } = config;
  const problems: string[] = [];
  if ((tlsCertFile === undefined) !== (tlsKeyFile === undefined)) {
    problems.push(`${prefix}TLS_CERT_FILE and ${prefix}TLS_KEY_FILE must be set together`);
  }
  if (tlsClientCaFile !== undefined && tlsCertFile === undefined) {
    problems.push(`${prefix}TLS_CERT_FILE must be set where ${prefix}TLS_CLIENT_CA_FILE is`);
  }
  if (tlsClientNames !== undefined && tlsClientCaFile === undefined) {
    problems.push(`${prefix}TLS_CLIENT_CA_FILE must be set where ${prefix}TLS_CLIENT_NAMES is`);
  }
  return problems;
}

/** What is wrong with the files. */
export function tlsServerFileProblems(prefix: string, config: TlsServerConfig): string[] {
  return pemProblems(
    [`${prefix}TLS_CERT_FILE`, config.tlsCertFile],
    [`${prefix}TLS_KEY_FILE`, config.tlsKeyFile],
    [`${prefix}TLS_CLIENT_CA_FILE`, config.tlsClientCaFile],
  );
}

export function openServerCertificates(
  prefix: string,
  config: TlsServerConfig,
  log: Log,
): Certificates | undefined {
  const { tlsCertFile: cert, tlsKeyFile: key, tlsClientCaFile: ca } = config;
  if (cert === undefined || key === undefined) return undefined;
  const names = ['CERT', 'KEY', ...(ca === undefined ? [] : ['CLIENT_CA'])];
  return new Certificates(
    { cert, key, ca },
    reloadMs,
    names.map((name) => `${prefix}TLS_${name}_FILE`),
    log,
  );
}

/** The names that client certificates may carry; undefined: any. */
export function clientNames(config: TlsServerConfig): ReadonlySet<string> | undefined {
  return config.tlsClientNames === undefined ? undefined : namesOf(config.tlsClientNames);
}

function namesOf(text: string): ReadonlySet<string> {
  return new Set(text.split(',').map((name) => name.trim()));
}

/** A client of a server with mTLS. An address of numbers needs a name to check the certificate by. */
export function tlsClientTable<P extends string>(prefix: P) {
  return {
    sandboxTlsCertFile: optionalText(`${prefix}TLS_CERT_FILE`, {
      what: 'Certificate (PEM, with its chain) shown to the server. Read again when it changes.',
    }),
    sandboxTlsKeyFile: optionalText(`${prefix}TLS_KEY_FILE`, { what: 'Its private key (PEM).' }),
    sandboxTlsCaFile: optionalText(`${prefix}TLS_CA_FILE`, {
      what: "Authorities (PEM) of the server's certificate.",
    }),
    sandboxTlsName: optionalText(`${prefix}TLS_NAME`, {
      what: 'Host name that the certificate must carry. Not set: that of the address, which must then be a name.',
    }),
  };
}

export type TlsClientConfig = Values<ReturnType<typeof tlsClientTable>>;

export function tlsClientProblems(prefix: string, config: TlsClientConfig, address: string): string[] {
  const {
    sandboxTlsCertFile: cert,
    sandboxTlsKeyFile: key,
    sandboxTlsCaFile: ca,
    sandboxTlsName: name,
  } = config;
  const given = [cert, key, ca].filter((file) => file !== undefined).length;
  if (given === 0) {
    return name === undefined ? [] : [`${prefix}TLS_CA_FILE must be set where ${prefix}TLS_NAME is`];
  }
  if (given < 3) {
    const names = ['CERT', 'KEY', 'CA'].map((kind) => `${prefix}TLS_${kind}_FILE`);
    return [`${names.join(', ')} must be set together`];
  }
  if (name !== undefined) return [];
  const parsed = parseTarget(address);
  if (parsed.kind === 'tcp' && isIP(parsed.host) === 0) return [];
  return [`${prefix}TLS_NAME must be set where the address is no name: the certificate is checked by it`];
}

/** What is wrong with the files. */
export function tlsClientFileProblems(prefix: string, config: TlsClientConfig): string[] {
  return pemProblems(
    [`${prefix}TLS_CERT_FILE`, config.sandboxTlsCertFile],
    [`${prefix}TLS_KEY_FILE`, config.sandboxTlsKeyFile],
    [`${prefix}TLS_CA_FILE`, config.sandboxTlsCaFile],
  );
}

export function openClientCertificates(
  prefix: string,
  config: TlsClientConfig,
  log: Log,
): Certificates | undefined {
  const { sandboxTlsCertFile: cert, sandboxTlsKeyFile: key, sandboxTlsCaFile: ca } = config;
  if (cert === undefined || key === undefined || ca === undefined) return undefined;
  const names = ['CERT', 'KEY', 'CA'].map((name) => `${prefix}TLS_${name}_FILE`);
  return new Certificates({ cert, key, ca }, reloadMs, names, log);
}

/** A setting and the file that it names. */
type Named = readonly [name: string, path: string | undefined];

/** What is wrong with files of PEM; a key must be that of the certificate. */
export function pemProblems(cert: Named, key: Named, ca: Named): string[] {
  const unreadable = [cert, key, ca].flatMap(([name, path]) => {
    const problem = path === undefined ? undefined : checkFile(path, { secret: name === key[0] });
    return problem === undefined ? [] : [`${name}: cannot use ${path}: ${problem}`];
  });
  if (unreadable.length > 0) return unreadable;
  const certProblems = unusable(cert, checkCertificate);
  const [, certPath] = cert;
  const keyProblems =
    certPath === undefined || certProblems.length > 0
      ? []
      : unusable(key, (text) => checkKey(text, readFileSync(certPath)));
  return [...certProblems, ...keyProblems, ...unusable(ca, checkCertificate)];
}

function unusable([name, path]: Named, check: (text: Buffer) => void): string[] {
  if (path === undefined) return [];
  try {
    check(readFileSync(path));
    return [];
  } catch (error) {
    return [`${name}: ${path} ${error instanceof Error ? error.message : String(error)}`];
  }
}
