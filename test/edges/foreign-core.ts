/**
 * A core that is not ours, as a process of its own: bare grpc-js on one connection, with the windows that it has by
 * itself. `node foreign-core.ts ADDRESS RUNS WAY` starts so many runs that flood it with large calls:
 *
 *   unread        it reads nothing of them
 *   incremental   it answers all, and asks the service to let its streams take turns (RFC 9218)
 *
 * It says "busy" when they are under way, waits for a line, and says what a new run and a plain call answer beside, and
 * how many calls were answered by then.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import {
  CodeRunService,
  type RunCodeRequestSchema,
  type RunCodeResponse,
} from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { methodDefinition } from '../../services/shared/grpc/codec.ts';
import { completed, outcomeOf, start } from './core.ts';

const [address = '', runs = '', way = ''] = process.argv.slice(2);
const client = new Client(address, credentials.createInsecure());
const metadata = new Metadata();
if (way === 'incremental') metadata.set('priority', 'u=3, i');

const flood = `const text = 'x'.repeat(900_000);
  for (let round = 0; round < 15; round++) await Promise.all([1, 2, 3, 4].map((n) => apps.notes.send({ n, text })));`;

function runCode(code: string) {
  const { path, requestSerialize, responseDeserialize } = methodDefinition(CodeRunService.method.runCode);
  const call = client.makeBidiStreamRequest<MessageInitShape<typeof RunCodeRequestSchema>, RunCodeResponse>(
    path,
    requestSerialize,
    (bytes) => responseDeserialize(bytes) as RunCodeResponse,
    metadata,
  );
  call.write({ message: start(code) });
  return call;
}

let callsAnswered = 0;

/** Resolves when this many calls of the run were answered; they go on. */
function answered(run: ReturnType<typeof runCode>, count: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let calls = 0;
  run.on('error', reject).on('data', ({ message }: RunCodeResponse) => {
    if (message.case !== 'call') return;
    run.write({ message: outcomeOf(message.value.index, completed(1)) });
    calls += 1;
    callsAnswered += 1;
    if (calls === count) resolve();
  });
  return promise;
}

async function returned(run: ReturnType<typeof runCode>): Promise<unknown> {
  for await (const { message } of run as AsyncIterable<RunCodeResponse>) {
    const result = message.case === 'finished' ? message.value.run?.result?.result : undefined;
    if (result?.case === 'completed') return JSON.parse(result.value.valueJson ?? 'null');
  }
  return undefined;
}

function getSettings(): Promise<unknown> {
  const { path, requestSerialize, responseDeserialize } = methodDefinition(
    SettingsService.method.getSettings,
  );
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, {}, metadata, (error) => {
      if (error === null) resolve('settings');
      else reject(error);
    });
  });
}

const lines = createInterface({ input: process.stdin });
const floods = Array.from({ length: Number(runs) }, () => runCode(flood));
if (way === 'incremental') await Promise.all(floods.map((run) => answered(run, 3)));
else for (const run of floods) run.on('error', () => {});
process.stdout.write('busy\n');
await once(lines, 'line');
const [value, settings] = await Promise.all([returned(runCode('return 1')), getSettings()]);
process.stdout.write(`${JSON.stringify({ value, settings, callsAnswered })}\n`, () => process.exit());
