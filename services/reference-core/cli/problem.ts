/** What a person reads when a command cannot go on, and the status it ends with. */
import { ConfigError } from '../../shared/config.ts';
import { RpcError } from '../../shared/grpc/status.ts';
import { CommandError, type ExitStatus, exitStatus } from './exit.ts';

/** The service that a command spoke to. */
export interface UsedService {
  /** Undefined: both services were started for the command. */
  readonly server?: string;
  /** The command makes no sense without a service that runs. */
  readonly needed?: boolean;
}

/** The service answered: it is the request that has to change. */
const wrongRequest: readonly string[] = [
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'FAILED_PRECONDITION',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
];

export function statusOf(error: unknown): ExitStatus {
  if (error instanceof CommandError) return error.status;
  if (error instanceof ConfigError) return exitStatus.usage;
  if (!(error instanceof RpcError)) return exitStatus.runFailed;
  return wrongRequest.includes(error.code) ? exitStatus.usage : exitStatus.unavailable;
}

export function messageOf(error: unknown, used: UsedService): string {
  if (error instanceof RpcError) return notConnected(error, used) ?? `CodeRunService: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

/** Undefined: there was a connection, or the service is the command's own. */
function notConnected({ code, message }: RpcError, { server, needed }: UsedService): string | undefined {
  if (code !== 'UNAVAILABLE' || server === undefined) return undefined;
  const [, resolution, last] =
    /^(?:(Name resolution failed)|No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note)/s.exec(
      message,
    ) ?? [];
  if (resolution === undefined && last === undefined) return undefined;
  const why = last ?? 'there is no such host';
  const fix = needed ? 'name another with --server' : 'leave --server out to have one for this command';
  return `no connection to a CodeRunService at ${server} (${why}): start one with "make start", or ${fix}`;
}
