import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Decider, Decision } from '../../services/reference-core/operations/decider.ts';
import { Operations, type ReceivedCall } from '../../services/reference-core/operations/operations.ts';
import { OperationRecord } from '../../services/reference-core/operations/record.ts';
import type { Outcome } from '../../services/reference-core/words.ts';
import { temporaryFolder } from '../support/mcp-servers.ts';

/** An app that counts, and answers when it is told to. */
class CountingApp {
  readonly performed: string[] = [];
  readonly #answers: (() => void)[] = [];
  readonly #hold: boolean;

  constructor(hold = false) {
    this.#hold = hold;
  }

  async perform({ callId }: { readonly callId: string }): Promise<Outcome> {
    this.performed.push(callId);
    if (this.#hold) await new Promise<void>((resolve) => this.#answers.push(resolve));
    return { tag: 'Completed', valueJson: `"${callId}"` };
  }

  answer(): void {
    for (const resolve of this.#answers.splice(0)) resolve();
  }
}

function deciding(decision: Decision): Decider {
  return { decide: () => decision, ask: async () => undefined };
}

function callOf(callId: string, changes: Partial<ReceivedCall> = {}): ReceivedCall {
  return {
    callId,
    binding: 'notes.read',
    source: { connectionId: 'notes', connectionName: 'Notes', kind: 'tool', name: 'read' },
    argumentsJson: '{}',
    argumentsDigest: 'd1',
    sentBefore: false,
    ...changes,
  };
}

const done = (callId: string): Outcome => ({ tag: 'Completed', valueJson: `"${callId}"` });

describe('operations', () => {
  test('perform a call once, however often it comes', async () => {
    using record = new OperationRecord(':memory:');
    const app = new CountingApp(true);
    const operations = new Operations(record, app, deciding({ tag: 'Allow' }));
    operations.begin('run');
    const first = operations.outcomeOf(callOf('run:0'));
    const second = operations.outcomeOf(callOf('run:0', { sentBefore: true }));
    app.answer();
    expect(await Promise.all([first, second])).toEqual([done('run:0'), done('run:0')]);
    expect(await operations.outcomeOf(callOf('run:0', { sentBefore: true }))).toEqual(done('run:0'));
    expect(app.performed).toEqual(['run:0']);
  });

  test('perform a call that was sent and never came', async () => {
    using record = new OperationRecord(':memory:');
    const app = new CountingApp();
    const operations = new Operations(record, app, deciding({ tag: 'Allow' }));
    operations.begin('run');
    expect(await operations.outcomeOf(callOf('run:3', { sentBefore: true }))).toEqual(done('run:3'));
  });

  test('say unknown of a call that another record may hold', async () => {
    using record = new OperationRecord(':memory:');
    const app = new CountingApp();
    const operations = new Operations(record, app, deciding({ tag: 'Allow' }));
    expect(await operations.outcomeOf(callOf('run:3', { sentBefore: true }))).toMatchObject({
      tag: 'Unknown',
      message: 'the call was sent before, and no record of it is left',
    });
    expect(app.performed).toEqual([]);
  });

  test('refuse a call id with other arguments', async () => {
    using record = new OperationRecord(':memory:');
    const app = new CountingApp();
    const operations = new Operations(record, app, deciding({ tag: 'Allow' }));
    await operations.outcomeOf(callOf('run:0'));
    expect(await operations.outcomeOf(callOf('run:0', { argumentsDigest: 'd2' }))).toMatchObject({
      tag: 'Failed',
      message: 'the call run:0 came before with other arguments',
    });
    expect(app.performed).toEqual(['run:0']);
  });

  test('deny what the decider denies, and stay with it', async () => {
    using record = new OperationRecord(':memory:');
    const app = new CountingApp();
    const denied = { tag: 'Denied', message: 'not today' };
    const denying = new Operations(record, app, deciding({ tag: 'Deny', message: 'not today' }));
    expect(await denying.outcomeOf(callOf('run:0'))).toEqual(denied);
    const allowing = new Operations(record, app, deciding({ tag: 'Allow' }));
    expect(await allowing.outcomeOf(callOf('run:0', { sentBefore: true }))).toEqual(denied);
    expect(app.performed).toEqual([]);
  });

  test.each([
    [{ tag: 'Allow' }, done('run:0'), ['run:0']],
    [{ tag: 'Deny', message: 'no' }, { tag: 'Denied', message: 'no' }, []],
  ] as const)('let a call wait until its verdict is %j', async (verdict, outcome, performed) => {
    using record = new OperationRecord(':memory:');
    const app = new CountingApp();
    const operations = new Operations(record, app, deciding({ tag: 'Ask' }));
    expect(await operations.outcomeOf(callOf('run:0'))).toEqual({ tag: 'Waiting' });
    expect(operations.waiting('run:0')?.binding).toBe('notes.read');
    operations.settle('run:0', verdict);
    expect(operations.waiting('run:0')).toBeUndefined();
    expect(await operations.outcomeOf(callOf('run:0', { sentBefore: true }))).toEqual(outcome);
    expect(app.performed).toEqual(performed);
  });

  test('keep to a verdict that was given when another comes', async () => {
    using record = new OperationRecord(':memory:');
    const app = new CountingApp();
    const operations = new Operations(record, app, deciding({ tag: 'Ask' }));
    await operations.outcomeOf(callOf('run:0'));
    operations.settle('run:0', { tag: 'Deny', message: 'no' });
    operations.settle('run:0', { tag: 'Allow' });
    expect(await operations.outcomeOf(callOf('run:0'))).toEqual({ tag: 'Denied', message: 'no' });
  });

  test('remember after a restart, and say unknown of what was under way', async () => {
    await using folder = await temporaryFolder();
    const file = path.join(folder.path, 'operations.sqlite');
    const held = new CountingApp(true);
    {
      using record = new OperationRecord(file);
      const operations = new Operations(record, new CountingApp(), deciding({ tag: 'Allow' }));
      operations.begin('run');
      await operations.outcomeOf(callOf('run:0'));
      // Sent, and never answered while this record was open.
      void new Operations(record, held, deciding({ tag: 'Allow' })).outcomeOf(callOf('run:1'));
      expect(held.performed).toEqual(['run:1']);
    }
    using record = new OperationRecord(file);
    const app = new CountingApp();
    const operations = new Operations(record, app, deciding({ tag: 'Allow' }));
    const again = (callId: string) => operations.outcomeOf(callOf(callId, { sentBefore: true }));
    expect(await again('run:0')).toEqual(done('run:0'));
    expect(await again('run:1')).toMatchObject({ tag: 'Unknown' });
    expect(await again('run:2')).toEqual(done('run:2'));
    expect(app.performed).toEqual(['run:2']);
  });

  test('forget a run as a whole, and no other', async () => {
    using record = new OperationRecord(':memory:');
    const operations = new Operations(record, new CountingApp(), deciding({ tag: 'Allow' }));
    operations.begin('run');
    operations.begin('run:inner');
    await operations.outcomeOf(callOf('run:0'));
    await operations.outcomeOf(callOf('run:inner:0'));
    operations.forget('run');
    expect(record.get('run:0')).toBeUndefined();
    expect(record.get('run:inner:0')?.state.tag).toBe('Settled');
    expect([record.covers('run'), record.covers('run:inner')]).toEqual([false, true]);
  });
});
