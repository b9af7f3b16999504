/** What a killed all-in-one leaves in the folder for temporary files is removed by the next start. */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Folder, Service } from '../edges/processes.ts';
import { isAlive, until } from './proc.ts';

const folder = new Folder();
afterAll(() => folder.remove());

function start(): Service {
  return new Service(
    'services/embedded/main.ts',
    {
      CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0',
      CODE_RUN_HTTP_ADDRESS: 'off',
      CODE_RUN_STORE: 'sqlite::memory:',
      CODE_RUN_KEYS: `k:${Buffer.alloc(32, 1).toString('base64')}`,
      CODE_RUN_DRAIN_MS: '0',
      SANDBOX_DRAIN_MS: '0',
      TMPDIR: folder.path,
    },
    ['--json'],
  );
}

const folderOf = (service: Service) =>
  readdirSync(folder.path).find((name) => name.startsWith(`code-mode-${service.pid}-`)) ?? '';

const old = (path: string) => utimesSync(path, 0, 0);

test('folders of dead owners are removed at a start, and no others', async () => {
  const killed = start();
  await killed.ready();
  const left = folderOf(killed);
  killed.kill('SIGKILL');
  await killed.ended();
  expect(isAlive(killed.pid)).toBe(false);
  expect(left).not.toBe('');
  const make = (name: string) => {
    mkdirSync(join(folder.path, name));
    return join(folder.path, name);
  };
  const dead = (mark: string) => `code-mode-${killed.pid}-${mark}`;
  const kept = {
    fresh: dead('fresh1'),
    alive: `code-mode-${process.pid}-abcdef`,
    full: dead('full12'),
    heard: dead('heard1'),
    other: 'code-mode-abcdef',
  };
  for (const name of Object.values(kept)) make(name);
  writeFileSync(join(folder.path, kept.full, 'file'), '');
  const listener = createServer().listen(join(folder.path, kept.heard, 'sandbox.sock'));
  await until(() => listener.listening);
  for (const name of [kept.alive, kept.full, kept.heard, kept.other]) old(join(folder.path, name));
  // The sandbox ends with its parent, and takes its socket along.
  await until(() => readdirSync(join(folder.path, left)).length === 0);
  old(join(folder.path, left));

  const next = start();
  try {
    await next.ready();
    expect(readdirSync(folder.path).sort()).toEqual([...Object.values(kept), folderOf(next)].sort());
  } finally {
    await next.stop();
    listener.close();
  }
}, 30_000);
