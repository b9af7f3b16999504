/** Starts a sandbox wherever it is run, runs a few programs, and prints what came of it as one line of JSON. */
import { credentials } from '@grpc/grpc-js';
import { LockLayerState, SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { readSandboxConfig } from '../../services/sandbox/config.ts';
import { startSandbox } from '../../services/sandbox/server.ts';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { silentLog } from '../../services/shared/log.ts';
import { run } from './kit.ts';

const environment = { SANDBOX_LISTEN: '127.0.0.1:0', SANDBOX_DRAIN_MS: '0', SANDBOX_READY_TARGET: '1' };
const sandbox = await startSandbox(
  readSandboxConfig({ environment: { ...process.env, ...environment } }),
  silentLog,
);
const channel = openChannel(sandbox.address, credentials.createInsecure());
const client = createClient(SandboxService, channel);
const { layers, locked } = await client.getStatus({});
const ends = [
  (await run(client, 'return (await apps.notes.read({ n: 1 })).n;')).reason,
  (await run(client, 'for (;;);', { timeoutMs: 300 })).reason,
  (await run(client, 'const all = []; for (;;) all.push(new Array(1e5).fill(1.5));', { timeoutMs: 10_000 }))
    .reason,
];
const states = Object.fromEntries(layers.map(({ name, state }) => [name, LockLayerState[state]]));
process.stdout.write(`${JSON.stringify({ uid: process.getuid?.(), locked, states, ends })}\n`);
channel.close();
await sandbox.stop();
