/** The windows of connections: wide on both sides, whenever the first stream comes. */
import { once } from 'node:events';
import { connect, createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { widenConnectionWindows } from '../../services/shared/grpc/windows.ts';
import { grpcLimits } from '../../services/shared/limits.ts';

const wide = grpcLimits.streamsMax * 65_535;
const server = createServer((_request, response) => response.end());

beforeEach(async () => {
  widenConnectionWindows();
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  server.close();
});

test.each(['before', 'after'])(
  'a first stream %s the client is connected widens both sides',
  async (when) => {
    const serving = once(server, 'session') as Promise<[ServerHttp2Session]>;
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    if (when === 'after') await once(client, 'connect');
    const stream = client.request({ ':method': 'POST' });
    stream.end().resume();
    await once(stream, 'close');
    const [session] = await serving;
    expect(client.state.effectiveLocalWindowSize).toBe(wide);
    expect(session.state.effectiveLocalWindowSize).toBe(wide);
    client.close();
  },
);
