/**
 * Every setting of every service, from the tables themselves: what it refuses, and that the error names it. A new
 * setting that has no case fails this file.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Table, Variable } from '../../services/shared/config.ts';
import { type Environment, files, folder, key, problemsOf, services, texts } from './setting-cases.ts';

const all = Object.entries(services).flatMap(([name, service]) =>
  Object.values(service.table).map((variable) => [name, variable.name, variable, service] as const),
);
const ranged = (variable: Variable<unknown>) => /^(-?\d+) to (\d+)/.exec(variable.range ?? '');
const isText = (variable: Variable<unknown>) => variable.range === undefined;

/** A problem that says what this variable must be, and shows its value only if that is no secret. */
function expectProblem(problems: readonly string[], variable: Variable<unknown>, value: string): void {
  expect(
    problems.filter((one) => one.startsWith(variable.name)),
    `${variable.name}=${value}`,
  ).toHaveLength(1);
  expect(problems.join('\n')).toMatch(/ (must|holds|has|key \d|two|names|w |readPreference|option|cannot)/);
  if (variable.mask !== undefined && /^[^:]{8,}$|@/.test(value))
    expect(problems.join('\n')).not.toContain(value);
}

test('every setting has a case', () => {
  const known = [...Object.keys(texts), ...Object.keys(files)];
  const open = all.filter(([, name, variable]) => isText(variable) && !known.includes(name));
  expect(open.map(([, name]) => name)).toEqual([]);
  expect(known.filter((name) => !all.some(([, other]) => other === name))).toEqual([]);
});

const integers = all.filter(([, , variable]) => ranged(variable));
const lists = all.filter(([, , variable]) => !isText(variable) && !ranged(variable));

test.each(all)('%s: %s says what it means, and starts from a default that it takes', (_, name, variable) => {
  expect(variable.what).toMatch(/[.]$/);
  if (variable.initial !== undefined)
    expect(variable.read(variable.initial, name)).toEqual(variable.fallback);
});

test.each(integers)('%s: %s takes its range, and no number beyond', async (_, name, variable, service) => {
  const [, min, max] = ranged(variable) ?? [];
  for (const good of [min, max]) {
    expect(await problemsOf(service, { [name]: String(good) })).toEqual([]);
  }
  const beyond = [Number(min) - 1, Number(max) + 1, '1e3', '0x10', '1.5', '1_000', ' 5', 'one', '٣'];
  for (const bad of beyond) {
    expect(await problemsOf(service, { [name]: String(bad) })).toEqual([
      `${name} must be a whole number from ${min} to ${max}, is ${JSON.stringify(String(bad))}`,
    ]);
  }
});

test.each(lists)('%s: %s takes what is listed, and nothing else', async (_, name, variable, service) => {
  const listed = (variable.range ?? '').split(/, | or /);
  expect(listed.length).toBeGreaterThan(1);
  const beside: Environment = name === 'SANDBOX_SECCOMP_LOG_ONLY' ? { SANDBOX_LOCK: 'insecure' } : {};
  for (const good of listed) expect(await problemsOf(service, { ...beside, [name]: good })).toEqual([]);
  for (const bad of ['perhaps', '1', ` ${listed[0]}`, String(listed[0]).toUpperCase()]) {
    expectProblem(await problemsOf(service, { [name]: bad }), variable, bad);
  }
});

test.each(all.filter(([, name]) => texts[name] !== undefined))(
  '%s: %s takes what it should, and nothing else',
  async (_, name, variable, service) => {
    const { bad, good, with: beside = () => ({}) } = texts[name] ?? { bad: [], good: [] };
    const base = { CODE_RUN_KEYS_FILE: join(folder.path, 'made'), ...beside() };
    for (const value of good)
      expect(await problemsOf(service, { ...base, [name]: value }), value).toEqual([]);
    const lines = name === 'CODE_RUN_KEYS' ? [] : ['a\nb', 'a\u0000b', '\u007f'];
    for (const value of [...bad, ...lines, ' x', 'x ']) {
      expectProblem(await problemsOf(service, { ...base, [name]: value }), variable, value);
    }
  },
);

test.each(all.filter(([, name]) => files[name] !== undefined))(
  '%s: %s takes a file that it can use, and nothing else',
  async (_, name, variable, service) => {
    const { with: beside, secret } = files[name] ?? { with: () => ({}), secret: false };
    const good = { CODE_RUN_KEYS_FILE: join(folder.path, 'good-keys'), ...beside() };
    writeFileSync(good.CODE_RUN_KEYS_FILE, `k:${key}`, { mode: 0o600 });
    expect(await problemsOf(service, good)).toEqual([]);

    const mayBeMissing = ['CODE_RUN_KEYS_FILE', 'CODE_RUN_TRANSIT_TOKEN_FILE'].includes(name);
    const missing = join(folder.path, 'no-such-file');
    expect(await problemsOf(service, { ...good, [name]: missing })).toEqual(
      mayBeMissing ? [] : [`${name}: cannot use ${missing}: there is no such file`],
    );
    const nested = { ...good, [name]: join(folder.path, 'own.crt/x') };
    expectProblem(await problemsOf(service, nested), variable, '');

    const directory = join(folder.path, 'directory');
    mkdirSync(directory, { recursive: true });
    const [problem, ...more] = await problemsOf(service, { ...good, [name]: directory });
    expect(more).toEqual([]);
    expect(problem).toMatch(new RegExp(`^${name}:? .*${directory}.* it is a folder$`));

    const garbage = join(folder.path, 'garbage');
    for (const content of name === 'CODE_RUN_TRANSIT_TOKEN_FILE' ? [] : ['', 'hunter2 hunter2']) {
      writeFileSync(garbage, content, { mode: 0o600 });
      const problems = await problemsOf(service, { ...good, [name]: garbage });
      expectProblem(problems, variable, '');
      expect(problems.join()).toContain(garbage);
      expect(problems.join()).not.toContain('hunter2');
    }

    for (const mode of [0o644, 0o640, 0o660, 0o604]) {
      const open = join(folder.path, `mode-${mode.toString(8)}`);
      writeFileSync(open, name.includes('_KEY_FILE') ? 'x' : `k:${key}`);
      chmodSync(open, mode);
      const problems = await problemsOf(service, { ...good, [name]: open });
      const why = `it must be for its owner alone (chmod 600), its mode is 0${mode.toString(8)}`;
      expect(problems.some((one) => one.startsWith(name) && one.endsWith(why))).toBe(secret);
    }
  },
);

describe.each(Object.entries(services))('%s', (_, { print, table }) => {
  const secrets: Record<string, string> = {
    CODE_RUN_STORE: 'mongodb://ann:hunter2@a,b/x?w=majority',
    CODE_RUN_KEYS: `k:${key}`,
    CODE_RUN_JWKS_URL: 'https://h/keys?token=hunter2',
    CODE_RUN_JWT_ISSUER: 'i',
    CODE_RUN_JWT_AUDIENCE: 'an "audience" # of words',
  };
  const given = Object.fromEntries(
    Object.entries(secrets).filter(([name]) => Object.values(table).some((entry) => entry.name === name)),
  );

  test('prints settings that it takes back as they were', () => {
    const [store, keys] = ['mongodb://a,b/x?w=majority', undefined];
    const open = {
      ...given,
      CODE_RUN_STORE: store,
      CODE_RUN_JWKS_URL: 'https://h/keys',
      CODE_RUN_KEYS: keys ?? '',
    };
    const environment = Object.fromEntries(Object.entries(open).filter(([name]) => name in given));
    const printed = print(environment);
    expect(print({}, printed)).toBe(printed);
  });

  test('prints no secret, and takes no mask for one', () => {
    const printed = print(given);
    expect(printed).not.toMatch(/hunter2/);
    expect(printed).not.toContain(key);
    const masked = printed
      .split('\n')
      .flatMap((line) => (line.includes('***') ? [line.split('=')[0] ?? ''] : []));
    expect(masked).toEqual(
      Object.keys(given)
        .filter((name) => name !== 'CODE_RUN_JWT_ISSUER' && name !== 'CODE_RUN_JWT_AUDIENCE')
        .sort(byTable(table)),
    );
    const problems = masked.map((name) => `${name} must be the secret itself: *** only stands for one`);
    const told = () => print({}, printed);
    if (masked.length === 0) expect(told()).toBe(printed);
    else for (const problem of problems) expect(told).toThrow(problem);
    expect(print(given, printed)).toBe(printed);
  });
});

function byTable(table: Table): (a: string, b: string) => number {
  const order = Object.values(table).map(({ name }) => name);
  return (a, b) => order.indexOf(a) - order.indexOf(b);
}
