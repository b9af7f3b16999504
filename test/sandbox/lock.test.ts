import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LockLayerState } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { startTestSandbox, type TestSandbox } from './kit.ts';
import { descendants, descriptors, firstOf, softLimit, threadStatuses } from './processes.ts';

const waiting = 'await apps.notes.read({}); return 1;';
const isRoot = process.geteuid?.() === 0;
const filtersHere = Number(threadStatuses(process.pid)[0]?.get('Seccomp_filters') ?? 0);

for (const children of ['forked', 'started']) {
  test.runIf(process.platform === 'linux')(
    `a ${children} child that crashes is lost, not out of memory`,
    async () => {
      const sandbox = await startTestSandbox({ SANDBOX_CHILDREN: children, SANDBOX_READY_TARGET: '0' });
      const before = new Set(descendants(process.pid));
      const { promise, resolve } = Promise.withResolvers<void>();
      const ran = sandbox.run(waiting, { answer: () => undefined, onStep: () => resolve() });
      await promise;
      const pid = firstOf(descendants(process.pid).filter((candidate) => !before.has(candidate)));
      process.kill(pid, 'SIGSEGV');
      expect((await ran).reason).toBe('LOST');
      await sandbox.stop();
    },
  );

  describe.runIf(process.platform === 'linux')(`a ${children} child`, () => {
    let sandbox: TestSandbox;
    let pid = 0;
    const controller = new AbortController();
    let ended: Promise<unknown>;
    beforeAll(async () => {
      sandbox = await startTestSandbox({ SANDBOX_CHILDREN: children, SANDBOX_READY_TARGET: '0' });
      const before = new Set(descendants(process.pid));
      const { promise, resolve } = Promise.withResolvers<void>();
      const options = { answer: () => undefined, onStep: () => resolve(), signal: controller.signal };
      ended = sandbox.run(waiting, options).catch(() => {});
      await promise;
      pid = firstOf(descendants(process.pid).filter((candidate) => !before.has(candidate)));
    });
    afterAll(async () => {
      controller.abort();
      await ended;
      await sandbox?.stop();
    });

    test('is under a filter, without privileges, in every thread', () => {
      const statuses = threadStatuses(pid);
      if (children === 'forked') expect(statuses).toHaveLength(1);
      for (const status of statuses) {
        expect(status.get('Seccomp')).toBe('2');
        expect(Number(status.get('Seccomp_filters'))).toBe(filtersHere + (children === 'forked' ? 2 : 1));
        expect(status.get('NoNewPrivs')).toBe('1');
        for (const set of ['CapEff', 'CapPrm', 'CapInh', 'CapAmb']) expect(status.get(set)).toMatch(/^0+$/);
        expect(status.get('Groups')).toBe('');
        if (isRoot) expect(status.get('Uid')?.split('\t')).toEqual(Array(4).fill('65534'));
        if (isRoot) expect(status.get('Gid')?.split('\t')).toEqual(Array(4).fill('65534'));
      }
    });

    test('handles no signal, so that each ends it as what it is', () => {
      for (const status of threadStatuses(pid)) {
        const caught = BigInt(`0x${status.get('SigCgt')}`) & 0x7fff_ffffn; // Past it those of the C library.
        expect(caught).toBe(0n);
      }
    });

    test.runIf(isRoot)('has one socket and nothing else that leads outside', () => {
      const held = descriptors(pid);
      expect(held.filter((what) => what === 'socket')).toHaveLength(1);
      const others = new Set(held.filter((what) => what !== 'socket'));
      if (children === 'forked') expect(others).toEqual(new Set(['anon_inode:[eventfd]']));
      else
        for (const other of others)
          expect(other).toMatch(/^(anon_inode:\[(eventfd|eventpoll|io_uring)\]|pipe)$/);
    });

    test.runIf(isRoot)('has nothing in its environment but a zone and a locale', () => {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').filter(Boolean);
      expect(environment.sort()).toEqual(['LANG=C', 'TZ=UTC']);
    });

    test.runIf(isRoot)('has its limits', () => {
      expect(['7', '8']).toContain(softLimit(pid, 'Max cpu time')); // 5 s, the margin, and what a start takes.
      expect(softLimit(pid, 'Max open files')).toBe('0');
      expect(softLimit(pid, 'Max core file size')).toBe('0');
      expect(softLimit(pid, 'Max file size')).toBe('0');
      expect(softLimit(pid, 'Max stack size')).toBe(String(8 * 1024 * 1024));
      expect(Number(softLimit(pid, 'Max data size'))).toBeLessThan(400 * 1024 * 1024);
    });

    test.runIf(isRoot && children === 'forked')('holds little memory of its own while it waits', () => {
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
      const kb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1]);
      expect(kb('Private_Dirty') + kb('Private_Clean')).toBeLessThan(1800); // Some 1,240.
    });

    test('is what GetStatus says', async () => {
      const status = await sandbox.client.getStatus({});
      expect(status.locked).toBe(true);
      expect(status.layers.map((layer) => layer.name)).toEqual([
        'fresh-process',
        'environment',
        'jitless',
        'identity',
        'limits',
        'processor-budget',
        'no-new-privileges',
        'landlock',
        'no-descriptors',
        'seccomp',
      ]);
      expect(status.layers[0]?.detail).toBe(children);
      for (const layer of status.layers) {
        if (layer.required) expect(layer.state, layer.detail).toBe(LockLayerState.HELD);
      }
      expect(status.versions?.fingerprint).toContain(process.versions.v8);
      expect(status.capacity).toMatchObject({ running: 1, queued: 0 });
    });
  });
}
