/** How settings are read, shown, and kept from view: with a table of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import {
  ConfigError,
  flag,
  integer,
  oneOf,
  optionalText,
  startingAs,
  text,
  without,
} from '../../services/shared/config.ts';
import { parseConfigFile, quoted, readConfigFile } from '../../services/shared/config-file.ts';
import { ConfigReader } from '../../services/shared/config-reader.ts';
import { describeConfig, environmentOf, printConfig } from '../../services/shared/config-text.ts';
import { maskUrl } from '../../services/shared/mask.ts';
import { printTelemetry, telemetryProblems } from '../../services/shared/telemetry-config.ts';

const table = {
  address: text('APP_ADDRESS', { what: 'Where it listens.', initial: '127.0.0.1:1' }),
  workers: integer('APP_WORKERS', { what: 'How many.', initial: 2, min: 1, max: 8, unit: 'workers' }),
  strict: flag('APP_STRICT', { what: 'Whether.', initial: false }),
  level: oneOf('APP_LEVEL', { what: 'How much.', values: ['low', 'high'], initial: 'low' }),
  store: text('APP_STORE', { what: 'Where.', initial: 'db://here', otherName: 'DB_URI', secret: 'url' }),
  key: optionalText('APP_KEY', {
    what: 'A key.',
    secret: 'whole',
    check: (value) => {
      if (value.length < 8) throw new Error('must be at least 8 characters');
    },
  }),
};

const defaults = {
  address: '127.0.0.1:1',
  workers: 2,
  strict: false,
  level: 'low',
  store: 'db://here',
  key: undefined,
};

const folder = mkdtempSync(join(tmpdir(), 'config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function read(environment: Record<string, string>, file?: string) {
  const sources = { environment, ...(file === undefined ? {} : { file: parseConfigFile(file, 'app.env') }) };
  const reader = new ConfigReader(sources, [{ table, prefix: 'APP_' }]);
  const values = reader.values(table);
  reader.finish();
  return { ...values, storeName: reader.nameOf(table.store) };
}

function problemsOf(environment: Record<string, string>, file?: string): readonly string[] {
  try {
    read(environment, file);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
  }
  return [];
}

describe('configuration', () => {
  test('has its defaults, also for what is set to nothing', () => {
    expect(read({})).toMatchObject(defaults);
    expect(read({ APP_WORKERS: '', OTHER: 'x' })).toMatchObject(defaults);
    expect(read({ APP_WORKERS: '' }, 'APP_WORKERS=8')).toMatchObject(defaults);
  });

  test('is taken from the environment before the file', () => {
    expect(read({ APP_WORKERS: '1' }, 'APP_WORKERS=8\nAPP_LEVEL="high"\n')).toMatchObject({
      workers: 1,
      level: 'high',
    });
  });

  test('takes another name where its own is not set, and knows which it was', () => {
    expect(read({ DB_URI: 'db://there' })).toMatchObject({ store: 'db://there', storeName: 'DB_URI' });
    expect(read({ DB_URI: 'db://there', APP_STORE: '' })).toMatchObject({ store: 'db://there' });
    const own = { store: 'db://own', storeName: 'APP_STORE' };
    expect(read({ DB_URI: 'db://there', APP_STORE: 'db://own' })).toMatchObject(own);
    expect(read({ DB_URI: 'db://there' }, 'APP_STORE=db://own')).toMatchObject(own);
    expect(read({})).toMatchObject({ storeName: 'APP_STORE' });
  });

  test('tells every problem at once by the name of its variable, a secret without its value', () => {
    const environment = {
      APP_WORKERS: '9',
      APP_STRICT: 'yes',
      APP_LEVEL: 'middle',
      APP_KEY: 'hunter2',
      APP_WORKER: '1',
    };
    expect(problemsOf(environment, 'APP_ADDRESS=" x"\n')).toEqual([
      'APP_WORKER is not a setting; did you mean APP_WORKERS? --help lists them all',
      'APP_ADDRESS must not begin or end with a blank, is " x" (app.env:1)',
      'APP_WORKERS must be a whole number from 1 to 8, is "9"',
      'APP_STRICT must be true or false, is "yes"',
      'APP_LEVEL must be one of low, high, is "middle"',
      'APP_KEY must be at least 8 characters',
    ]);
  });

  test('names a variable by the name under which it was given', () => {
    expect(problemsOf({ DB_URI: 'db://x\n' })).toEqual([
      'DB_URI must be one line, without control characters',
    ]);
  });

  test('relates values only where each is right by itself', () => {
    const reader = (environment: Record<string, string>) =>
      new ConfigReader({ environment }, [{ table, prefix: 'APP_' }]);
    const good = reader({});
    good.values(table);
    good.relate(() => ['together wrong']);
    expect(() => good.finish()).toThrow('together wrong');
    const bad = reader({ APP_WORKERS: '9' });
    bad.values(table);
    bad.relate(() => ['together wrong']);
    expect(() => bad.finish()).toThrow(/^APP_WORKERS must be/);
  });
});

describe('a file of settings', () => {
  test.each([
    ['a=1\r\nb = 2 \n', { a: '1', b: '2' }],
    ['\uFEFFa=1', { a: '1' }],
    ['# a=1\n\n   # b\na=', { a: '' }],
    ['a=x y=z#1', { a: 'x y=z#1' }],
    ['a="x # y"\nb=\'x "\\n"\'', { a: 'x # y', b: 'x "\\n"' }],
    ['a="l1\\nl2 \\"q\\" c:\\\\d"', { a: 'l1\nl2 "q" c:\\d' }],
    ['a=c:\\d', { a: 'c:\\d' }],
  ])('is read: %j', (content, expected) => {
    const path = join(folder, 'read.env');
    writeFileSync(path, content);
    const { entries, problems } = readConfigFile(path);
    expect(problems).toEqual([]);
    expect(Object.fromEntries(entries.map(({ name, value }) => [name, value]))).toEqual(expected);
  });

  test.each([
    ['APP_LEVEL', 'must be NAME=value, with a name of letters, digits and "_"'],
    ['APP LEVEL=low', 'must be NAME=value, with a name of letters, digits and "_"'],
    ['1=2', 'must be NAME=value, with a name of letters, digits and "_"'],
    ['export A=1', 'must be NAME=value, without "export", with a name of letters, digits and "_"'],
    ['A="open', 'A: " must be closed, at the end of the line'],
    ['A="x" y', 'A: " must be closed, at the end of the line'],
    ['A="x" # why', 'A: " must be closed, at the end of the line'],
    ["A='it's'", "A: ' must be closed, at the end of the line"],
    ['A="\\t"', 'A: in "…" only \\n, \\" and \\\\ are known, not \\t'],
    ['A=1 # why', 'A: a value with " #" must be in quotes; a comment needs a line of its own'],
    ['APP_LEVEL=low', 'APP_LEVEL stands there twice, first in line 1'],
  ])('is refused with the number of the line: %s', (line, problem) => {
    expect(problemsOf({}, `APP_LEVEL=low\n\n${line}`)).toEqual([`--config app.env:3: ${problem}`]);
  });

  test('may hold nothing that is no setting, but what OpenTelemetry reads', () => {
    const foreign = 'OTEL_BSP_SCHEDULE_DELAY=1\nPATH=/bin\nOTHER_LEVEL=low\nAPP_LEVL=low\n';
    expect(problemsOf({}, foreign)).toEqual([
      '--config app.env:2: PATH is not a setting; --help lists them all',
      '--config app.env:3: OTHER_LEVEL is not a setting; --help lists them all',
      '--config app.env:4: APP_LEVL is not a setting; did you mean APP_LEVEL? --help lists them all',
    ]);
  });

  test('never has a value of its lines told', () => {
    const lines = ['A="hunter2', 'A=hunter2 # x', 'hunter2', 'B="\\hunter2"', 'hunter2=hunter2 '];
    expect(problemsOf({}, lines.slice(0, 4).join('\n')).join('\n')).not.toContain('hunter');
  });

  test.each([
    ['/nonexistent/app.env', 'there is no such file'],
    [tmpdir(), 'it is a folder'],
  ])('that cannot be read is a problem that names it: %s', (path, why) => {
    expect(readConfigFile(path).problems).toEqual([`--config: cannot read the file ${path}: ${why}`]);
  });

  test('that is no text is a problem', () => {
    const path = join(folder, 'bytes.env');
    writeFileSync(path, Buffer.from([0x41, 0x3d, 0xff, 0xfe]));
    expect(readConfigFile(path).problems).toEqual([
      `--config: cannot read the file ${path}: it is no UTF-8 text`,
    ]);
  });

  test('gives back every value that was quoted for it', () => {
    const value = fc.string({ unit: 'binary' }).map((one) => one.replace(/[^\P{Cc}\n]/gu, ''));
    fc.assert(
      fc.property(value, (one) => {
        const { entries, problems } = parseConfigFile(`A=${quoted(one)}`, 'f');
        expect(problems).toEqual([]);
        expect(entries[0]?.value).toBe(one);
      }),
    );
  });
});

describe('what is printed', () => {
  const printed = (environment: Record<string, string>, file?: string) =>
    printConfig(table, read(environment, file));

  test('masks secrets, and nothing else of a URL', () => {
    expect(printed({ APP_KEY: 'correct horse', APP_LEVEL: 'high', APP_STORE: 'db://ann:pw@a,b/x?w=1' })).toBe(
      'APP_ADDRESS=127.0.0.1:1\nAPP_WORKERS=2\nAPP_STRICT=false\nAPP_LEVEL=high\nAPP_STORE=db://ann:***@a,b/x?w=1\nAPP_KEY=***',
    );
    expect(printed({})).toContain('# APP_KEY is not set');
  });

  test('is a file with the same settings', () => {
    const first = printed({ APP_ADDRESS: 'a "b" # c\\d', APP_LEVEL: 'high', DB_URI: 'db://x/y?z=1' });
    expect(printed({}, first)).toBe(first);
    const user = printed({ DB_URI: 'mongodb://CN=code-run@a/x?authMechanism=MONGODB-X509' });
    expect(user).toContain('mongodb://CN=code-run@a/');
    expect(printed({}, user)).toBe(user);
  });

  test('is refused where it stands for a secret', () => {
    const first = printed({ APP_KEY: 'correct horse', APP_STORE: 'db://ann:pw@a' });
    expect(problemsOf({}, first)).toEqual([
      'APP_STORE must be the secret itself: *** only stands for one (app.env:5)',
      'APP_KEY must be the secret itself: *** only stands for one (app.env:6)',
    ]);
    expect(problemsOf({ APP_KEY: 'correct horse', APP_STORE: 'db://ann:pw@a' }, first)).toEqual([]);
  });

  test.each([
    ['https://host/path?a=b#c', 'https://host/path?a=b#c'],
    ['https://ann:secret@host', 'https://ann:***@host'],
    ['https://ann:sec:re@t@host:1/x@y', 'https://ann:***@host:1/x@y'],
    ['https://token@host', 'https://***@host'],
    ['https://:secret@host', 'https://:***@host'],
    [
      'mongodb://CN=code-run@a:1,b/?authMechanism=MONGODB-X509',
      'mongodb://CN=code-run@a:1,b/?authMechanism=MONGODB-X509',
    ],
    ['mongodb+srv://ann@a/x', 'mongodb+srv://ann@a/x'],
    ['mongodb://ann:@a', 'mongodb://ann:@a'],
    ['mongodb://ann:secret@a:1,b:2/db?authSource=admin', 'mongodb://ann:***@a:1,b:2/db?authSource=admin'],
    [
      'mongodb://a/?tls=true&tlsCertificateKeyFile=/k.pem&tlsCertificateKeyFilePassword=secret&w=1',
      'mongodb://a/?tls=true&tlsCertificateKeyFile=/k.pem&tlsCertificateKeyFilePassword=***&w=1',
    ],
    [
      'mongodb://a/?authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:secret',
      'mongodb://a/?authMechanism=MONGODB-AWS&authMechanismProperties=***',
    ],
    [
      'https://h/keys?access_token=secret&api-key=secret&kid=7',
      'https://h/keys?access_token=***&api-key=***&kid=7',
    ],
    ['sqlite:.data/x.db', 'sqlite:.data/x.db'],
  ])('hides of %s no more than its secrets', (url, masked) => {
    expect(maskUrl(url)).toBe(masked);
    expect(maskUrl(masked)).toBe(masked);
  });

  test('shows what OpenTelemetry reads without its secrets', () => {
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://ann:secret@collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer secret',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_EMPTY: '',
      PATH: '/bin',
    };
    const lines = printTelemetry(environment);
    expect(lines).toEqual([
      'OTEL_BSP_SCHEDULE_DELAY=100',
      'OTEL_EXPORTER_OTLP_ENDPOINT=https://ann:***@collector:4318',
      'OTEL_EXPORTER_OTLP_HEADERS=***',
    ]);
    expect(telemetryProblems(environment)).toEqual([]);
    const fed = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    expect(telemetryProblems(fed)).toEqual([
      'OTEL_EXPORTER_OTLP_ENDPOINT must be the secret itself: *** only stands for one',
      'OTEL_EXPORTER_OTLP_HEADERS must be the secret itself: *** only stands for one',
    ]);
    expect(telemetryProblems({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'collector:4318' })).toEqual([
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be an http or https URL',
    ]);
  });

  test('is the environment of a process, whole', () => {
    expect(environmentOf(table, read({ APP_KEY: 'correct horse' }))).toEqual({
      APP_ADDRESS: '127.0.0.1:1',
      APP_WORKERS: '2',
      APP_STRICT: 'false',
      APP_LEVEL: 'low',
      APP_STORE: 'db://here',
      APP_KEY: 'correct horse',
    });
  });
});

test('help names every variable with its default, meaning and range', () => {
  expect(describeConfig(table)).toContain('  APP_WORKERS=2\n      How many.\n      1 to 8 workers');
  expect(describeConfig(table)).toContain('  APP_LEVEL=low\n      How much.\n      low or high');
  expect(describeConfig(table)).toContain('  APP_KEY\n      A key.');
});

test('a table can leave variables out and start others differently', () => {
  const smaller = { ...without(table, 'key', 'store'), workers: startingAs(table.workers, '8') };
  expect(Object.keys(smaller)).toEqual(['address', 'workers', 'strict', 'level']);
  expect(smaller.workers).toMatchObject({ initial: '8', fallback: 8 });
  expect(() => startingAs(table.workers, '9')).toThrow('must be a whole number from 1 to 8');
});
