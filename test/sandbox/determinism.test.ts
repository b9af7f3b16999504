import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { run } from './kit.ts';

/** Asks for time, zone, locale, chance and the stack by every route there is. */
const program = `
const seen = [];
const note = (name, ask) => {
  let answer;
  try { answer = String(ask()); } catch (error) { answer = error.name + ': ' + error.message; }
  seen.push(name + ' = ' + answer);
};
note('Date.now', () => Date.now());
note('Date()', () => Date());
note('new Date', () => new Date().toISOString());
note('constructor of a date', () => new (new Date(0).constructor)().getTime());
note('subclass', () => new (class extends Date {})().getTime());
note('Reflect.construct', () => Reflect.construct(Date, []).getTime());
note('local', () => new Date(2026, 0, 1).toString());
note('offset', () => new Date().getTimezoneOffset());
note('toLocaleString', () => new Date().toLocaleString());
note('Intl now', () => new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'full' }).format());
note('Intl parts', () => JSON.stringify(new Intl.DateTimeFormat().formatToParts()));
note('zone', () => JSON.stringify(new Intl.DateTimeFormat().resolvedOptions()));
note('numbers', () => (1234.5).toLocaleString());
note('collation', () => ['b', 'ä', 'a', 'Z'].sort(new Intl.Collator().compare).join());
note('Temporal', () => [Temporal.Now.instant(), Temporal.Now.zonedDateTimeISO(), Temporal.Now.plainDateISO()].join());
for (let i = 0; i < 5; i++) note('random', () => Math.random());
note('uuid', () => crypto.randomUUID());
note('shuffle', () => [1, 2, 3, 4, 5, 6].sort(() => Math.random() - 0.5).join());
let depth = 0;
const down = () => { depth++; down(); };
try { down(); } catch {}
note('depth', () => depth);
let deeper = 0;
const downWith = (a, b, c) => { const x = [a, b, c]; deeper++; return downWith(x, c, a) + 1; };
try { downWith(1, 2, 3); } catch {}
note('depth with arguments', () => deeper);
note('stack', () => { try { null.x; } catch (error) { return error.stack; } });
note('globals', () => Object.getOwnPropertyNames(globalThis).sort().join());
note('order', () => Object.keys({ b: 1, a: 2, 1: 3 }).join());
const answers = await Promise.all([1, 2, 3].map((n) => apps.notes.read({ n })));
note('answers', () => JSON.stringify(answers));
return seen;
`;

const environments: readonly Record<string, string>[] = [
  { TZ: 'UTC' },
  { TZ: 'America/St_Johns', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' },
  { TZ: 'Asia/Kathmandu', LANG: 'ja_JP.UTF-8', NODE_OPTIONS: '--stack-trace-limit=3' },
  {
    TZ: 'Pacific/Apia',
    LANGUAGE: 'tr',
    LC_ALL: 'tr_TR.UTF-8',
    HOME: '/nonexistent',
    ICU_TIMEZONE_FILES_DIR: '/tmp',
  },
  { TZ: 'Europe/Berlin', LC_ALL: 'ar_EG.UTF-8', SANDBOX_FIRST_MEMORY_MB: '200' },
];

test('the same job gives one transcript in 50 children under different environments', {
  timeout: 120_000,
}, async () => {
  const transcripts = await Promise.all(environments.map((environment) => transcriptsUnder(environment, 10)));
  const [first, ...others] = transcripts.flat();
  expect(first?.length).toBeGreaterThan(25);
  expect(others).toHaveLength(49);
  for (const other of others) expect(other).toEqual(first);
});

test('a started child differs from a forked one in nothing but the depth of a recursion', async () => {
  const [[forked], [started]] = await Promise.all([
    transcriptsUnder({ SANDBOX_CHILDREN: 'forked' }, 1),
    transcriptsUnder({ SANDBOX_CHILDREN: 'started', TZ: 'Asia/Kolkata' }, 1),
  ]);
  const withoutDepth = (lines: readonly string[] = []) => lines.filter((line) => !line.startsWith('depth'));
  expect(withoutDepth(started)).toEqual(withoutDepth(forked));
});

async function transcriptsUnder(
  environment: Record<string, string>,
  count: number,
): Promise<readonly string[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'determinism-'));
  const service = spawn(process.execPath, ['--no-warnings', 'services/sandbox/main.ts'], {
    env: {
      SANDBOX_LISTEN: `unix:${folder}/s`,
      SANDBOX_LOG_LEVEL: 'warn',
      SANDBOX_READY_TARGET: '2',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(service, 'exit');
  try {
    await Promise.race([
      once(service.stdout, 'data'),
      exited.then((how) => Promise.reject(new Error(`ended: ${how}`))),
    ]);
    const channel = openChannel(`unix:${folder}/s`, credentials.createInsecure());
    const client = createClient(SandboxService, channel);
    const transcripts: string[][] = [];
    for (let child = 0; child < count; child++) {
      const ran = await run(client, program, { timeoutMs: 20_000 });
      expect(ran.reason, ran.end.message).toBe('RETURNED');
      transcripts.push(ran.value as string[]);
    }
    channel.close();
    return transcripts;
  } finally {
    service.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true });
  }
}
