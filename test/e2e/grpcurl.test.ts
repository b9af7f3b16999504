/** A whole run by grpcurl: started, a call answered, its end seen; with the .proto files and without. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { grpcurlAvailable, grpcurlPath } from '../edges/grpcurl.ts';
import { type EmbeddedProcess, startEmbeddedProcess } from './embedded.ts';

let embedded: EmbeddedProcess;
beforeAll(async () => {
  embedded = await startEmbeddedProcess();
});
afterAll(() => embedded.stop());

/** Text of several JSON objects one after another, as grpcurl prints them. */
async function* objectsOf(child: ChildProcess): AsyncGenerator<Record<string, never>> {
  let text = '';
  if (child.stdout === null) return;
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    text += chunk;
    for (let end = text.indexOf('\n}\n'); end >= 0; end = text.indexOf('\n}\n')) {
      yield JSON.parse(text.slice(0, end + 2));
      text = text.slice(end + 3);
    }
  }
}

const protoFiles = [
  '-import-path',
  join(import.meta.dirname, '../../proto'),
  '-proto',
  'openbot/codemode/v1/code_run_service.proto',
];

describe.runIf(grpcurlAvailable('a run by grpcurl'))('grpcurl', () => {
  test.each([
    ['with the .proto files', protoFiles],
    ['with reflection alone', []],
  ])('starts a run, answers its call and sees its end, %s', async (name, flags) => {
    const args = [
      ...flags,
      '-plaintext',
      '-d',
      '@',
      embedded.grpcAddress,
      'openbot.codemode.v1.CodeRunService/RunCode',
    ];
    const child = spawn(grpcurlPath(), args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(child, 'close');
    const start = {
      session: 's-1',
      turn: 't-1',
      callId: name,
      owner: 'someone',
      code: 'return await apps.notes.read_note({ id: 1 })',
      catalog: {
        catalog: { connections: [{ id: 'conn-7', name: 'Notes', tools: [{ name: 'read_note' }] }] },
      },
    };
    child.stdin.write(JSON.stringify({ start }));
    const seen: string[] = [];
    for await (const message of objectsOf(child)) {
      seen.push(...Object.keys(message));
      if ('call' in message) {
        expect(message['call']).toMatchObject({ binding: 'notes.read_note', argumentsJson: '{"id":1}' });
        child.stdin.write(JSON.stringify({ outcome: { index: 0, completed: { valueJson: '"a note"' } } }));
      }
      if ('finished' in message) {
        expect(message['finished']).toMatchObject({
          run: { status: 'CODE_RUN_STATUS_COMPLETED', result: { completed: { valueJson: '"a note"' } } },
        });
        child.stdin.end();
      }
    }
    expect(seen).toEqual(['accepted', 'call', 'finished']);
    expect(await ended).toEqual([0, null]);
  });
});
