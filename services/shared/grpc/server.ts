/** A grpc-js server with the product's bounds, bound to one address. */
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import {
  logVerbosity,
  type Server,
  type ServerCredentials,
  type ServerOptions,
  setLogVerbosity,
} from '@grpc/grpc-js';
import { parseAddress } from '../address.ts';
import { grpcLimits, limits } from '../limits.ts';
import { listenProblem } from '../listen-problem.ts';
import { EdgeServer } from './edge-server.ts';
import { widenConnectionWindows } from './windows.ts';

widenConnectionWindows();

// Its lines have no structure, and what they say reaches us as errors.
setLogVerbosity(logVerbosity.NONE);

export function createServer(options: ServerOptions = {}): EdgeServer {
  return new EdgeServer({
    'grpc.max_receive_message_length': limits.grpcMessageBytesMax,
    'grpc.max_send_message_length': limits.grpcAnswerBytesMax,
    'grpc.max_concurrent_streams': grpcLimits.streamsMax,
    'grpc.max_connection_idle_ms': grpcLimits.idleMs,
    // A peer that is gone without a word is noticed, and its attempts are given up.
    'grpc.keepalive_time_ms': grpcLimits.keepaliveMs,
    'grpc.keepalive_timeout_ms': grpcLimits.keepaliveTimeoutMs,
    ...options,
  });
}

/**
 * Binds to "host:port" or "unix:/path"; gives the address with the port that was taken. `setting` is the variable
 * that holds the address, for errors.
 */
export async function listen(
  server: Server,
  address: string,
  credentials: ServerCredentials,
  setting?: string,
): Promise<string> {
  const parsed = parseAddress(address);
  if (parsed.kind === 'unix') await removeStaleSocket(parsed.path);
  const port = await bind(server, address, credentials).catch((cause: Error) => {
    throw listenProblem(address, setting, cause);
  });
  return parsed.kind === 'unix' ? address : address.replace(/:\d+$/, `:${port}`);
}

function bind(server: Server, address: string, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error === null) resolve(port);
      else reject(error);
    });
  });
}

/** A server that was killed leaves its socket, and nobody could listen there again. One that answers stays. */
export async function removeStaleSocket(path: string): Promise<void> {
  const code = await new Promise<unknown>((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once('error', (error) => resolve('code' in error ? error.code : error));
  });
  if (code === 'ECONNREFUSED') await rm(path);
}

/** Lets calls end by themselves for `graceMs`, then cancels what is left. Resolves when nothing is left. */
export function shutDown(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, graceMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
