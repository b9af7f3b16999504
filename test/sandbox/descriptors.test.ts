/** A sandbox that may open few files: it refuses what it has no room for, and what runs goes on. */
import { credentials } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { EndReason, SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { RpcError } from '../../services/shared/grpc/status.ts';
import { Folder, Service } from '../edges/processes.ts';
import { run } from './kit.ts';

const atOnce = 120;

test('that has no descriptor left refuses new programs, and loses none that runs', async () => {
  const folder = new Folder();
  const environment = {
    SANDBOX_LISTEN: `unix:${folder.path}/s`,
    SANDBOX_LOCK: 'development',
    SANDBOX_DRAIN_MS: '0',
  };
  const inside = ['bash', '--norc', '-c', 'ulimit -n 80 && exec "$@"', 'bash'];
  const service = new Service('services/sandbox/main.ts', environment, [], { inside });
  const over = new AbortController();
  const channel = openChannel(`unix:${folder.path}/s`, credentials.createInsecure());
  try {
    await service.ready();
    const client = createClient(SandboxService, channel);
    // Each waits for a call that the test answers when all of them run or were refused.
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let settled = 0;
    const { promise: allSettled, resolve: settle } = Promise.withResolvers<void>();
    const one = () => {
      settled += 1;
      if (settled === atOnce) settle();
    };
    const fates = Array.from({ length: atOnce }, async () => {
      try {
        const { end } = await run(client, 'return await apps.notes.read();', {
          signal: over.signal,
          answer: async () => {
            one();
            await released;
            return { case: 'completed', value: Buffer.from('1') };
          },
        });
        return EndReason[end.reason] ?? 'none';
      } catch (error) {
        one();
        if (!(error instanceof RpcError)) throw error;
        return error.code;
      }
    });
    await allSettled;
    release();
    const seen = await Promise.all(fates);
    expect([...new Set(seen)].toSorted()).toEqual(['RETURNED', 'UNAVAILABLE']);
    expect(seen.filter((fate) => fate === 'RETURNED').length).toBeGreaterThan(20);
    expect(service.stderr).not.toContain('a zygote ended');
    // There is room again.
    expect(await run(client, 'return 1')).toMatchObject({ value: 1 });
  } finally {
    over.abort(new Error('enough'));
    channel.close();
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    folder.remove();
  }
}, 120_000);
