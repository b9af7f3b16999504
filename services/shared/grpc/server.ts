/** A grpc-js server with the product's bounds, bound to one address. */
import { Server, type ServerCredentials, type ServerOptions } from '@grpc/grpc-js';
import { limits } from '../limits.ts';

export function createServer(options: ServerOptions = {}): Server {
  return new Server({
    'grpc.max_receive_message_length': limits.grpcMessageBytesMax,
    'grpc.max_send_message_length': limits.grpcAnswerBytesMax,
    ...options,
  });
}

/** Binds to "host:port" or "unix:/path"; gives the address with the port that was taken. */
export function listen(server: Server, address: string, credentials: ServerCredentials): Promise<string> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error !== null)
        reject(new Error(`cannot listen on ${address}: ${error.message}`, { cause: error }));
      else resolve(address.startsWith('unix:') ? address : address.replace(/:\d+$/, `:${port}`));
    });
  });
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
