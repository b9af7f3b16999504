/** The programs whose journals are kept. A call is answered as its argument `give` says. */
import type { Outcome } from '../../services/code-run/core/model.ts';

export const programs: Readonly<Record<string, string>> = {
  sequence: `
    let sum = 0;
    for (let n = 1; n <= 5; n++) sum += await apps.notes.read({ n, give: n * n });
    return { sum };`,
  parallel: `
    const names = ['a', 'b', 'c', 'd', 'e'];
    return await Promise.all(names.map(async (name) => name + (await apps.notes.read({ name, give: name.toUpperCase() }))));`,
  race: `
    const first = await Promise.race([1, 2, 3].map((n) => apps.notes.read({ n, give: n })));
    const then = await apps.notes.write({ first, give: 'after ' + first });
    return [first, then];`,
  nested: `
    const list = await apps.notes.read({ give: [1, 2, 3] });
    const parts = await Promise.all(list.map(async (n) => {
      const inner = await Promise.all([n, n * 10].map((m) => apps.notes.read({ m, give: m + 1 })));
      return apps.notes.write({ of: inner, give: inner[0] + inner[1] });
    }));
    return parts.reduce((sum, part) => sum + part, 0);`,
  errors: `
    const seen = [];
    for (const give of [{ failed: 'ToolError' }, { denied: 'not today' }, { input: 'op-7' }, { failed: 'OutcomeUnknown' }]) {
      try { await apps.notes.send({ give }); }
      catch (error) { seen.push([error.name, error.reason ?? null, error.operationId ?? null, error instanceof Error]); }
    }
    const settled = await Promise.allSettled([apps.notes.read({ give: 1 }), apps.notes.send({ give: { denied: 'no' } })]);
    return { seen, settled: settled.map(({ status }) => status) };`,
  world: `
    const at = new Date();
    const uuid = crypto.randomUUID();
    const numbers = [Math.random(), Math.random()];
    console.log('at', at.toISOString(), Date.now());
    const one = await apps.notes.read({ at, uuid, numbers, give: 'one' });
    const text = new Intl.DateTimeFormat('en-US', { dateStyle: 'full', timeStyle: 'long' }).format();
    const two = await apps.notes.write({ text, random: Math.random(), give: 'two' });
    console.warn(one, two, [1, { a: 'b' }]);
    return { at, uuid, text, one, two };`,
  texts: `
    const key = 'ключ "\\u2028" 🔑';
    const answer = await apps.notes.read({ [key]: { deep: [[['ß', null, -0, 1e21]]] }, give: { [key]: '値' } });
    return [answer[key], await apps.notes.write({ empty: '', give: '' })];`,
  detached: `
    for (let n = 0; n < 4; n++) apps.notes.send({ n, give: n });
    apps.notes.send({ give: { failed: 'Timeout' } }).catch((error) => console.error(error.name));
    return 'not awaited';`,
  branches: `
    let at = 'start';
    const seen = [];
    for (let step = 0; step < 6; step++) {
      const next = await apps.notes.read({ at, give: { to: step % 3 === 0 ? 'left' : 'right' } });
      at = next.to;
      if (at === 'left') seen.push(await apps.notes.write({ step, give: step }));
      else void apps.notes.send({ step, give: null });
    }
    return seen;`,
  together: `
    return await Promise.all(['a', 'b', 'c', 'd'].map(async (name) => {
      const read = await apps.notes.read({ name, give: name });
      return name < 'c' ? read : read + (await apps.notes.write({ read, give: name.toUpperCase() }));
    }));`,
  throws: `
    await apps.notes.read({ give: 1 });
    throw new TypeError('this is how it ends');`,
};

/** Programs whose open calls are all answered at once, so that outcomes are written ahead. */
export const answeredAtOnce: ReadonlySet<string> = new Set(['together']);

/** What a call gets for its argument `give`. */
export function answerTo(argumentsJson: string): Outcome {
  const { give } = JSON.parse(argumentsJson) as { give: unknown };
  if (typeof give === 'object' && give !== null) {
    if ('failed' in give)
      return { tag: 'Failed', reason: give.failed as 'ToolError', message: 'it did not work' };
    if ('denied' in give) return { tag: 'Denied', message: String(give.denied) };
    if ('input' in give) return { tag: 'InputRequired', operationId: String(give.input) };
  }
  return { tag: 'Completed', valueJson: JSON.stringify(give) };
}
