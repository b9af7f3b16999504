/** What a log line says, and what it never says. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AppError } from '../../services/shared/errors.ts';
import { loggedError } from '../../services/shared/log-error.ts';

const secret = 'the text of a program';

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

test.each([
  ['JSON that cannot be read', () => JSON.parse(`{"a": ${secret}}`)],
  ['an argument of the wrong kind', () => Buffer.alloc(secret as unknown as number)],
  [
    'what is no error at all',
    () => {
      throw secret;
    },
  ],
])('an error over %s is logged without it', (_name, work) => {
  const cause = thrownBy(work);
  const logged = loggedError(new AppError('INTERNAL', 'internal error', { cause }));
  expect(JSON.stringify(logged)).not.toContain(secret);
  expect(logged).toMatchObject({
    type: 'AppError',
    message: 'internal error',
    code: 'INTERNAL',
    cause: { message: '(withheld)' },
  });
});

test('an error of our own or of the system keeps its words and its frames', () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
  expect(loggedError(new Error('outer', { cause }))).toMatchObject({
    message: 'outer',
    stack: expect.arrayContaining([expect.stringContaining('log.test.ts')]),
    cause: { message: 'connect ECONNREFUSED 127.0.0.1:1', code: 'ECONNREFUSED' },
  });
});

test('a message that looks like frames is none', () => {
  const error = new SyntaxError(`bad\n    at ${secret} (x.js:1:1)`);
  const logged = loggedError(error);
  expect(JSON.stringify(logged)).not.toContain(secret);
  expect(logged?.stack[0]).toContain('log.test.ts');
});

test('causes end somewhere', () => {
  const error = new Error('itself');
  error.cause = error;
  expect(JSON.stringify(loggedError(error)).match(/itself/g)?.length).toBeLessThan(10);
});

test('a line is JSON on standard error with its service, component and time', () => {
  const script = `
    import { createLog } from ${JSON.stringify(join(import.meta.dirname, '../../services/shared/log.ts'))};
    const log = createLog({ service: 'test', level: 'info' }).child({ component: 'part' });
    log.debug({}, 'not this');
    log.info({ n: 1 }, 'this');
    try { JSON.parse('${secret}'); } catch (err) { log.error({ err }, 'failed'); }`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-warnings', '--input-type=module-typescript', '-e', script],
    { encoding: 'utf8' },
  );
  expect(stdout).toBe('');
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    {
      level: 30,
      service: 'test',
      component: 'part',
      n: 1,
      msg: 'this',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    },
    { level: 50, msg: 'failed', err: { type: 'SyntaxError', message: '(withheld)' } },
  ]);
  expect(stderr).not.toContain(secret);
});
