/**
 * How a command shows who it is to a service elsewhere, by the environment alone: what stands on a command line
 * can be read by everyone on the machine.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type ChannelCredentials, credentials } from '@grpc/grpc-js';
import { type Address, isLoopback, parseAddress } from '../../shared/address.ts';
import { ConfigError, optionalText, type Values } from '../../shared/config.ts';
import { ConfigReader } from '../../shared/config-reader.ts';
import { pemProblems } from '../../shared/tls-config.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Access {
  readonly credentials: ChannelCredentials;
  readonly headers: Readonly<Record<string, string>>;
}

export const accessTable = {
  token: optionalText('CODE_MODE_TOKEN', {
    what: 'Bearer token (JWT). Its subject owns the runs.',
    secret: 'whole',
    check: (value) => {
      if (!/^[!-~]+$/.test(value)) throw new Error('must be a JWT: letters, digits and signs without blanks');
    },
  }),
  ca: optionalText('CODE_MODE_TLS_CA_FILE', {
    what: "Authorities (PEM) of the server's certificate. Set: TLS.",
  }),
  cert: optionalText('CODE_MODE_TLS_CERT_FILE', { what: 'Certificate (PEM, with its chain) to show.' }),
  key: optionalText('CODE_MODE_TLS_KEY_FILE', { what: 'Its private key (PEM).' }),
};

/** Throws ConfigError. */
export function accessTo(server: string, environment: Environment): Access {
  const { token, ca, cert, key } = readAccess(environment, (access) => problemsOf(server, access));
  return {
    credentials:
      ca === undefined
        ? credentials.createInsecure()
        : credentials.createSsl(
            readFileSync(ca),
            key === undefined ? null : readFileSync(key),
            cert === undefined ? null : readFileSync(cert),
          ),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  };
}

type AccessValues = Values<typeof accessTable>;

function readAccess(
  environment: Environment,
  relations: (values: AccessValues) => readonly string[],
): AccessValues {
  const reader = new ConfigReader({ environment }, [{ table: accessTable, prefix: 'CODE_MODE_' }]);
  const values = reader.values(accessTable);
  reader.relate(() => relations(values));
  reader.finish();
  return values;
}

function problemsOf(server: string, { token, ca, cert, key }: AccessValues): string[] {
  if ((cert === undefined) !== (key === undefined)) {
    return ['CODE_MODE_TLS_CERT_FILE and CODE_MODE_TLS_KEY_FILE must be set together'];
  }
  if (ca === undefined && cert !== undefined) {
    return ['CODE_MODE_TLS_CA_FILE must be set where CODE_MODE_TLS_CERT_FILE is'];
  }
  if (token !== undefined && ca === undefined && !staysHere(server)) {
    return ['CODE_MODE_TLS_CA_FILE must be set: a token is sent to another machine only under TLS'];
  }
  // The gRPC library cannot check a certificate against an IP address.
  if (ca !== undefined && isIpAddress(server)) {
    return [`under TLS, name the server by a host name of its certificate instead of ${server}`];
  }
  return pemProblems([accessTable.cert.name, cert], [accessTable.key.name, key], [accessTable.ca.name, ca]);
}

/** The subject that runs belong to: that of the token, so that its bearer may read them. Throws ConfigError. */
export function ownerOf(environment: Environment): string {
  const { token } = readAccess(environment, () => []);
  if (token === undefined) return 'local';
  try {
    const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    if (typeof sub === 'string') return sub;
  } catch {
    // Falls through: it is no JWT.
  }
  throw new ConfigError(['CODE_MODE_TOKEN must be a JWT with a subject ("sub")']);
}

function staysHere(server: string): boolean {
  const address = addressOf(server);
  return address !== undefined && isLoopback(address);
}

function isIpAddress(server: string): boolean {
  const address = addressOf(server);
  return address?.kind === 'tcp' && isIP(address.host) !== 0;
}

/** Undefined: another way to name a server ("dns:///…"); it may be anywhere. */
function addressOf(server: string): Address | undefined {
  try {
    return parseAddress(server);
  } catch {
    return undefined;
  }
}
