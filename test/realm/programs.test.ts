/** Programs that models wrote, of those that need no app: what the realm alone makes of them. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { useRealm } from './harness/realm.ts';

const { value, thrown } = useRealm();

const folder = new URL('../fixtures/programs/', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, folder), 'utf8');
const expected = (file: string) => (JSON.parse(read(file)) as { expect: { value?: unknown } }).expect.value;

describe('a program that reaches for', () => {
  for (const id of ['22-fetch-attempt', '23-require-and-dynamic-import']) {
    it(`what is not there gets to handle it: ${id}`, async () => {
      expect(await value(read(`${id}.js`))).toEqual(expected(`${id}.expected.json`));
    });
  }

  it('modules is told of the apps', async () => {
    const { name, message, position } = await thrown(read('24-static-import.js'));
    expect([name, position]).toEqual(['SyntaxError', '1:1']);
    expect(message).toMatch(/import.*apps/s);
  });

  it('timers is told that there are none', async () => {
    const outcome = { kind: 2, a: 'ToolError', b: 'no such file' };
    const allowed = { kind: 1, a: '{"content":[{"type":"text","text":"Allowed:\\n/root"}]}', b: '' };
    const { message } = await thrown(read('20-retry-backoff.js'), {
      job: {
        bindings: ['list_allowed_directories', 'read_text_file', 'write_file'].map(
          (name) => ['filesystem', name, 'filesystem', name] as const,
        ),
      },
      outcomes: [allowed, outcome],
    });
    expect(message).toMatch(/^setTimeout is not defined\. Programs have no timers/);
  });

  it('a cycle is told where it closes', async () => {
    expect((await thrown(read('29-circular-return.js'))).message).toMatch(/circular/);
  });
});
