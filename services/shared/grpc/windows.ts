/**
 * Flow control of HTTP/2 connections, so that calls on one connection do not stand in each other's way.
 *
 * A connection has a window of its own beside those of its streams (RFC 9113, 5.2), 65,535 bytes as well unless it
 * is widened, and nghttp2 serves streams that have something to send by age: one or two old ones that send without
 * pause use it up again and again, and a new one is not heard until they pause. Node.js gives bytes back to the
 * connection's window as they come, read or not, so that window bounds no memory: what does is the window of each
 * stream. Made as wide as all streams together, it is never what a stream waits for.
 *
 * grpc-js has no setting for it that leaves the streams as they are, and does not show its sessions: they are met where
 * Node.js tells of new streams.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Http2Session, Http2Stream } from 'node:http2';
import { grpcLimits } from '../limits.ts';

const streamWindowBytes = 65_535;
const connectionWindowBytes = grpcLimits.streamsMax * streamWindowBytes;

const widened = new WeakSet<Http2Session>();

function widen(message: unknown): void {
  const { session } = (message as { readonly stream: Http2Stream }).stream;
  if (session === undefined || session.destroyed || widened.has(session)) return;
  widened.add(session);
  const set = () => session.setLocalWindowSize(connectionWindowBytes);
  // A client may ask for streams before it is connected, and has no windows until it is.
  if (session.connecting) session.once('connect', set);
  else set();
}

let watching = false;

/** From now on, every connection of this process has a wide window once it has its first stream. Idempotent. */
export function widenConnectionWindows(): void {
  if (watching) return;
  watching = true;
  subscribe('http2.server.stream.created', widen);
  subscribe('http2.client.stream.created', widen);
}
