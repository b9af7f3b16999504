/** A client in another language, generated from the .proto files: grpcio in Python (`make tools`). */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findTool, run } from '../edges/grpcurl.ts';
import { available } from '../support/available.ts';
import { type EmbeddedProcess, startEmbeddedProcess } from './embedded.ts';

const root = join(import.meta.dirname, '../..');
const python = findTool('python', [join(root, '.tools/python/bin')]);

const lack = python === undefined ? 'no .tools/python (make tools)' : undefined;

describe.runIf(available('a core in Python', lack))('a core in Python', () => {
  let embedded: EmbeddedProcess;
  beforeAll(async () => {
    embedded = await startEmbeddedProcess();
  });
  afterAll(() => embedded.stop());

  test('starts a run, answers, waits, resumes and reads', async () => {
    const stubs = join(embedded.folder.path, 'stubs');
    mkdirSync(stubs);
    const files = ['catalog', 'code_run', 'code_run_service'].map(
      (name) => `openbot/codemode/v1/${name}.proto`,
    );
    const out = [`--python_out=${stubs}`, `--grpc_python_out=${stubs}`];
    const generated = await run(python ?? '', [
      '-m',
      'grpc_tools.protoc',
      '-I',
      join(root, 'proto'),
      ...out,
      ...files,
    ]);
    expect([generated.code, generated.stderr]).toEqual([0, '']);
    const script = join(import.meta.dirname, 'python/client.py');
    const { code, stdout, stderr } = await run(python ?? '', [script, embedded.grpcAddress, stubs]);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({
      started: ['accepted', 'call', 'call', 'waiting'],
      target: 'conn-7/send',
      arguments: { text: 'hello from Python' },
      resumed: ['accepted', 'finished'],
      value: 'AppCallDenied: not today',
      same: true,
      attempts: 2,
      refused: { code: 'INVALID_ARGUMENT', details: true },
    });
  });
});
