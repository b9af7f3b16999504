/** A program at the edge of its stack: everything fails whole, or not at all. */
import { describe, expect, it } from 'vitest';
import { useRealm } from './harness/realm.ts';

const { run, thrown } = useRealm();

const overflow = { name: 'RangeError', message: 'Maximum call stack size exceeded' };

/** Recurses to the edge and does something on the way back, at every depth, until it works. */
const atEveryDepth = (act: string, times: number) => `
  let done = 0, failed = 0;
  function dive() {
    try { dive(); } catch { failed++; }
    if (done < ${times}) { ${act}; done++; }
  }
  dive();
  return { done, failed: failed > 0 };`;

describe('at the edge of the stack', () => {
  it('recursion ends as an error', async () => {
    expect(await thrown('const f = () => f() + 1;\nf()')).toMatchObject(overflow);
    expect(await thrown('const f = async () => { await f(); };\nawait f()')).toMatchObject(overflow);
  });

  it('a recursive toString ends as an error', async () => {
    expect(await thrown('const o = { toString() { return String(this) } }; return String(o)')).toMatchObject(
      overflow,
    );
  });

  it('calls are issued whole, and none is lost', async () => {
    const { calls, ending, unhandled } = await run(atEveryDepth('apps.notes.read_note({ done })', 50));
    expect(ending).toEqual({ tag: 'returned', json: '{"done":50,"failed":true}' });
    expect(calls.map(({ index, argumentsJson }) => [index, argumentsJson])).toEqual(
      Array.from({ length: 50 }, (_, at) => [at, `{"done":${at}}`]),
    );
    expect(unhandled).toBe(0);
  });

  it('calls by name and with arguments that need work are issued whole', async () => {
    const { calls, ending } = await run(
      atEveryDepth(
        'apps.call("Notes/read-note", { done, list: [[[[[[done]]]]]], toJSON() { return { done } } })',
        20,
      ),
    );
    expect(ending).toEqual({ tag: 'returned', json: '{"done":20,"failed":true}' });
    expect(calls.map(({ argumentsJson }) => argumentsJson)).toEqual(
      Array.from({ length: 20 }, (_, at) => `{"done":${at}}`),
    );
  });

  it('log lines are written whole', async () => {
    const { logs, ending } = await run(atEveryDepth('console.log("line", { done })', 50));
    expect(ending).toEqual({ tag: 'returned', json: '{"done":50,"failed":true}' });
    expect(logs.filter((line) => !/^info line (\{ done: \d+ \}|\[unreadable\])$/.test(line))).toEqual([]);
    expect(logs).toHaveLength(50);
  });

  it('names that are not there, stacks and clones fail as an error', async () => {
    for (const act of [
      'try { apps.nope } catch (e) { if (!(e instanceof TypeError)) throw e }',
      'new Error("x").stack.length',
      'structuredClone({ a: [1] })',
      'JSON.stringify(apps)',
      'new URL("http://a/b").href',
      'crypto.randomUUID()',
      'new Date().toISOString()',
    ]) {
      const { ending } = await run(atEveryDepth(act, 20));
      expect(ending, act).toEqual({ tag: 'returned', json: '{"done":20,"failed":true}' });
    }
  });
});
