/** Settings of TLS, the same for every service, under its prefix. */
import { isIP } from 'node:net';
import { parseAddress } from './address.ts';
import { ConfigError, optionalText, type Values } from './config.ts';
import type { Log } from './log.ts';
import { Certificates } from './tls.ts';

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
  if (config.tlsClientNames === undefined) return undefined;
  return new Set(config.tlsClientNames.split(',').map((name) => name.trim()));
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
  if (config.sandboxTlsCaFile === undefined || config.sandboxTlsName !== undefined) return [];
  const parsed = parseAddress(address.replace(/^dns:\/\/\//, ''));
  if (parsed.kind === 'tcp' && isIP(parsed.host) === 0) return [];
  return [`${prefix}TLS_NAME must be set where the address is no name: the certificate is checked by it`];
}

export function openClientCertificates(
  prefix: string,
  config: TlsClientConfig,
  log: Log,
): Certificates | undefined {
  const { sandboxTlsCertFile: cert, sandboxTlsKeyFile: key, sandboxTlsCaFile: ca } = config;
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  const names = ['CERT', 'KEY', 'CA'].map((name) => `${prefix}TLS_${name}_FILE`);
  if (cert === undefined || key === undefined || ca === undefined) {
    throw new ConfigError([`${names.join(', ')} must be set together`]);
  }
  return new Certificates({ cert, key, ca }, reloadMs, names, log);
}
