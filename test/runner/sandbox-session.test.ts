import { describe, expect, test } from 'vitest';
import type { SandboxEvent } from '../../services/code-run/runner/contract.ts';
import { EventQueue } from '../../services/code-run/runner/event-queue.ts';
import { SandboxSession } from '../../services/code-run/runner/sandbox-session.ts';
import { claimBy, newRun } from '../store/example-runs.ts';

const cost = { cpuMs: 1, memoryBytes: 1 };
const position = { line: 0, column: 0 };
const end: SandboxEvent = {
  tag: 'End',
  end: { reason: 'Returned', message: '', errorName: '', ...position, cost },
};
const step: SandboxEvent = { tag: 'Step', delivered: 0, calls: [], logs: [], atRest: true, cost };

/** A session with a sandbox that says what the test pushes. */
function begun() {
  const { owner, leaseMs, nowMs } = claimBy('a');
  const run = {
    ...newRun(),
    status: 'Running',
    updatedAtMs: nowMs,
    lease: { owner, epoch: 1, expiresAtMs: nowMs + leaseMs },
    ...{ journalLength: 0, logLines: 0, waiting: [], attempts: [] },
  } as const;
  const left = Promise.withResolvers<void>();
  const says = new EventQueue<SandboxEvent>(left.resolve);
  const seen: string[] = [];
  const attempt = {
    events: says,
    deliver: () => Promise.resolve(),
    kill: () => void seen.push('broken off'),
  };
  const ended = Promise.withResolvers<void>();
  const session: SandboxSession = new SandboxSession({ execute: () => attempt }, run, {
    event: ({ tag }) => {
      seen.push(tag);
      if (tag !== 'SandboxEnded') return;
      session.kill();
      ended.resolve();
    },
    room: () => undefined,
    cost: () => {},
    lost: () => void seen.push('lost'),
  });
  session.begin([]);
  return { session, says, seen, ended: ended.promise, left: left.promise };
}

describe('a session', () => {
  test('lets a sandbox that has ended close its stream by itself', async () => {
    const { session, says, seen, ended } = begun();
    says.push(step);
    says.push(end);
    await ended;
    says.close();
    await says.next();
    expect(seen).toEqual(['SandboxStep', 'SandboxEnded']);
    session.close();
    expect(seen).toEqual(['SandboxStep', 'SandboxEnded', 'broken off']);
  });

  test('breaks a sandbox off that goes on after its end, and hears nothing of it', async () => {
    const { says, seen, ended, left } = begun();
    says.push(end);
    await ended;
    says.push(step);
    await left;
    expect(seen).toEqual(['SandboxEnded', 'broken off']);
  });

  test('takes an error behind the end for no loss', async () => {
    const { says, seen, ended } = begun();
    says.push(end);
    await ended;
    says.close({ error: new Error('reset') });
    await says.next().catch(() => {});
    expect(seen).toEqual(['SandboxEnded']);
  });
});
