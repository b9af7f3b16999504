import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  ConfigError,
  describeConfig,
  flag,
  integer,
  oneOf,
  optionalText,
  printConfig,
  readConfig,
  text,
} from '../../services/shared/config.ts';

const table = {
  address: text('APP_ADDRESS', { what: 'Where it listens.', initial: '127.0.0.1:1' }),
  workers: integer('APP_WORKERS', { what: 'How many.', initial: 2, min: 1, max: 8 }),
  strict: flag('APP_STRICT', { what: 'Whether.', initial: false }),
  level: oneOf('APP_LEVEL', { what: 'How much.', values: ['low', 'high'], initial: 'low' }),
  key: optionalText('APP_KEY', {
    what: 'A key.',
    secret: true,
    check: (value) => {
      if (value.length < 8) throw new Error('must be at least 8 characters');
    },
  }),
};

const read = (environment: Record<string, string>, file?: string) =>
  readConfig(table, { environment, prefix: 'APP_', ...(file === undefined ? {} : { file }) });

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    read(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
  }
  return [];
}

test('configuration has its defaults, also for what is set to nothing', () => {
  const defaults = { address: '127.0.0.1:1', workers: 2, strict: false, level: 'low', key: undefined };
  expect(read({})).toEqual(defaults);
  expect(read({ APP_WORKERS: '', OTHER: 'x' })).toEqual(defaults);
});

test('the environment wins over the file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'));
  try {
    const file = join(folder, 'app.env');
    writeFileSync(file, '# comment\nAPP_WORKERS=8\nAPP_LEVEL="high"\n');
    expect(read({ APP_WORKERS: '1' }, file)).toMatchObject({ workers: 1, level: 'high' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('every problem is told at once by the name of its variable, a secret without its value', () => {
  const problems = problemsOf({
    APP_WORKERS: '9',
    APP_STRICT: 'yes',
    APP_LEVEL: 'middle',
    APP_KEY: 'hunter2',
    APP_WORKER: '1',
  });
  expect(problems).toEqual([
    'APP_WORKER is not a setting; --help lists them all',
    'APP_WORKERS must be a whole number from 1 to 8, is "9"',
    'APP_STRICT must be true or false, is "yes"',
    'APP_LEVEL must be one of low, high, is "middle"',
    'APP_KEY must be at least 8 characters',
  ]);
});

test.each(['', ' 1', '1.5', '1e0', '0x1', 'one', '0', '9'])(
  'the integer %j is refused or the default',
  (value) => {
    if (value === '') expect(read({ APP_WORKERS: value }).workers).toBe(2);
    else expect(problemsOf({ APP_WORKERS: value })).toHaveLength(1);
  },
);

test('a missing file is a problem that names it', () => {
  expect(() => read({}, '/nonexistent/app.env')).toThrow(
    /^--config: cannot read the file \/nonexistent\/app\.env: there is no such file$/,
  );
});

test('what is printed masks secrets, and can be read again', () => {
  const values = read({ APP_KEY: 'correct horse', APP_LEVEL: 'high' });
  const printed = printConfig(table, values);
  expect(printed).toBe(
    'APP_ADDRESS=127.0.0.1:1\nAPP_WORKERS=2\nAPP_STRICT=false\nAPP_LEVEL=high\nAPP_KEY=***',
  );
  expect(printConfig(table, read({}))).toContain('# APP_KEY is not set');
});

test('help names every variable with its default', () => {
  expect(describeConfig(table)).toContain('  APP_WORKERS=2\n      How many.');
  expect(describeConfig(table)).toContain('  APP_KEY\n      A key.');
});
