/**
 * How a command shows who it is to a service elsewhere, by the environment alone: what stands on a command line
 * can be read by everyone on the machine.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type ChannelCredentials, credentials } from '@grpc/grpc-js';
import { type Address, isLoopback, parseAddress } from '../../shared/address.ts';
import { fileProblem } from '../../shared/file-problem.ts';
import { CommandError, exitStatus } from './exit.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Access {
  readonly credentials: ChannelCredentials;
  readonly headers: Readonly<Record<string, string>>;
}

export function accessTo(server: string, environment: Environment): Access {
  const {
    CODE_MODE_TOKEN: token,
    CODE_MODE_TLS_CA_FILE: ca,
    CODE_MODE_TLS_CERT_FILE: cert,
    CODE_MODE_TLS_KEY_FILE: key,
  } = environment;
  if ((cert === undefined) !== (key === undefined)) {
    throw wrong('CODE_MODE_TLS_CERT_FILE and CODE_MODE_TLS_KEY_FILE must be set together');
  }
  if (ca === undefined && cert !== undefined) {
    throw wrong('CODE_MODE_TLS_CA_FILE must be set where CODE_MODE_TLS_CERT_FILE is');
  }
  if (token !== undefined && ca === undefined && !staysHere(server)) {
    throw wrong('CODE_MODE_TLS_CA_FILE must be set: a token is sent to another machine only under TLS');
  }
  // The gRPC library cannot check a certificate against an IP address.
  if (ca !== undefined && isIpAddress(server)) {
    throw wrong(`under TLS, name the server by a host name of its certificate instead of ${server}`);
  }
  return {
    credentials:
      ca === undefined
        ? credentials.createInsecure()
        : credentials.createSsl(
            pem('CODE_MODE_TLS_CA_FILE', ca),
            key === undefined ? null : pem('CODE_MODE_TLS_KEY_FILE', key),
            cert === undefined ? null : pem('CODE_MODE_TLS_CERT_FILE', cert),
          ),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  };
}

/** The subject that runs belong to: that of the token, so that its bearer may read them. */
export function ownerOf({ CODE_MODE_TOKEN: token }: Environment): string {
  if (token === undefined) return 'local';
  try {
    const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    if (typeof sub === 'string') return sub;
  } catch {
    // Falls through: it is no JWT.
  }
  throw wrong('CODE_MODE_TOKEN must be a JWT with a subject ("sub")');
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

function pem(variable: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new CommandError(exitStatus.usage, `${variable}: cannot read ${file}: ${fileProblem(cause)}`, {
      cause,
    });
  }
}

function wrong(message: string): CommandError {
  return new CommandError(exitStatus.usage, message);
}
