/** Whatever the value: it leaves the realm as Node.js would write it, and can be shown and cloned. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logEndBytesMax } from '../../services/sandbox/realm/contract.ts';
import { useRealm } from './harness/realm.ts';

const { run, value } = useRealm();

const numRuns = 25;

const json = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });
const object = fc.dictionary(fc.string({ unit: 'binary' }), json, { maxKeys: 5 });
const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
});

/** Text of a JSON value as a program would parse it, so that no key becomes a prototype. */
const parsed = (of: unknown) => `JSON.parse(${JSON.stringify(JSON.stringify(of))})`;

describe('any JSON value', () => {
  it('is returned as it is', async () => {
    await fc.assert(
      fc.asyncProperty(json, async (of) => {
        const { ending } = await run(`return ${parsed(of)}`, { job: { outputBytes: 1 << 20 } });
        expect(ending).toEqual({ tag: 'returned', json: JSON.stringify(of) });
      }),
      { numRuns },
    );
  });

  it('is sent as arguments as it is, and comes back as a result as it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(object, { minLength: 1, maxLength: 5 }), async (list) => {
        const program = `const list = ${parsed(list)};
          const results = [];
          for (const of of list) results.push(await apps.notes.read_note(of));
          return JSON.stringify(results) === JSON.stringify(list);`;
        const { calls, ending } = await run(program, { job: { outputBytes: 1 << 20 } });
        expect(calls.map(({ argumentsJson }) => argumentsJson)).toEqual(list.map((of) => JSON.stringify(of)));
        expect(ending).toEqual({ tag: 'returned', json: 'true' });
      }),
      { numRuns },
    );
  });
});

describe('any value at all', () => {
  it('can be shown on one line or many, in bounds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anything, { minLength: 10, maxLength: 20 }), async (list) => {
        const shown = `[${list.map((of) => fc.stringify(of)).join(',\n')}]`;
        const { logs, ending } = await run(`for (const of of ${shown}) console.log(of);\nreturn 'shown'`, {
          job: { logLineBytesMax: 500 },
        });
        expect(ending).toEqual({ tag: 'returned', json: '"shown"' });
        expect(logs.length).toBeGreaterThanOrEqual(Math.min(list.length, 10));
        expect(logs.filter((line) => line.includes('[unreadable]'))).toEqual([]);
        expect(Math.max(...logs.map((line) => line.length))).toBeLessThan(700);
      }),
      { numRuns },
    );
  });

  it('is thrown as text', async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (of) => {
        const { ending, unhandled } = await run(`throw ${fc.stringify(of)}`);
        expect(ending.tag).toBe('threw');
        expect(unhandled).toBe(0);
      }),
      { numRuns },
    );
  });

  it('is cloned as Node.js clones it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(json, { minLength: 1, maxLength: 5 }), async (list) => {
        expect(await value(`return structuredClone(${parsed(list)})`)).toEqual(
          JSON.parse(JSON.stringify(structuredClone(list))),
        );
      }),
      { numRuns },
    );
  });
});

describe('any order of outcomes', () => {
  const program = `
    const seen = [];
    const branch = async (id) => {
      const first = await apps.notes.read_note({ id });
      seen.push(id);
      const rest = await Promise.all([0, 1].map(async (part) => {
        const r = await apps.mail.send({ id, part, random: Math.random() });
        seen.push(id + '/' + part);
        return r;
      }));
      return [first, rest];
    };
    const all = await Promise.all(['a', 'b', 'c'].map(branch));
    console.log(seen.join(' '));
    return { seen, all };`;

  it('gives one transcript each time it is repeated', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 1000 }), { minLength: 9, maxLength: 9 }), async (picks) => {
        const order = orderOf(picks);
        const first = await run(program, { order });
        expect(first.ending.tag).toBe('returned');
        expect(await run(program, { order })).toEqual(first);
      }),
      { numRuns },
    );
  });

  /** An order in which each call settles after it was issued: three calls, and two more for each of these. */
  function orderOf(picks: readonly number[]): number[] {
    const open = [0, 1, 2];
    const order: number[] = [];
    let issued = open.length;
    for (const pick of picks) {
      const [index] = open.splice(pick % open.length, 1);
      if (index === undefined) throw new Error('no call is out');
      order.push(index);
      if (index < 3) {
        open.push(issued, issued + 1);
        issued += 2;
      }
    }
    return order;
  }
});

describe('any lines', () => {
  it('take no more of the log than the supervisor lets pass', async () => {
    const line = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.nat({ max: 700 }).map((length) => 'é'.repeat(length)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 20 }),
        fc.integer({ min: 1, max: 200 }),
        async (lines, times) => {
          const program = `const lines = ${parsed(lines)};
          for (let i = 0; i < ${times}; i++) for (const line of lines) console.log(line);`;
          const job = { outputBytes: 1024, logLineBytesMax: 500 };
          const { logs } = await run(program, { job });
          const texts = logs.map((shown) => shown.slice(shown.indexOf(' ') + 1));
          const bytes = texts.reduce((sum, text) => sum + Math.max(1, Buffer.byteLength(text)), 0);
          expect(bytes).toBeLessThanOrEqual(job.outputBytes + logEndBytesMax);
        },
      ),
      { numRuns },
    );
  });
});
