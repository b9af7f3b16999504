/**
 * Programs as trees of calls, made by fast-check: in sequence, parallel, nested, with races, catches, branches
 * that depend on results, calls that nobody awaits. Each node is a function of the value before it.
 */
import fc from 'fast-check';
import type { Binding } from '../../services/code-run/core/model.ts';

export const simBindings: readonly Binding[] = ['read', 'write', 'send'].map((name) => ({
  connection: 'notes',
  capability: name,
  rawName: name,
  source: { connectionId: 'conn-7', connectionName: 'Notes', kind: 'tool', name },
}));

export type Tree =
  | { readonly tag: 'call'; readonly name: string; readonly n: number }
  | { readonly tag: 'seq' | 'all' | 'race' | 'any' | 'settled'; readonly parts: readonly Tree[] }
  | { readonly tag: 'catch'; readonly body: Tree; readonly handler: Tree }
  | { readonly tag: 'branch'; readonly on: Tree; readonly odd: Tree; readonly even: Tree }
  | { readonly tag: 'loop'; readonly times: number; readonly body: Tree }
  | { readonly tag: 'detach'; readonly body: Tree }
  | { readonly tag: 'log' | 'fail' }
  | { readonly tag: 'pause'; readonly ticks: number };

const call = fc.record({
  tag: fc.constant('call' as const),
  name: fc.constantFrom('read', 'write', 'send'),
  n: fc.nat(9),
});

const { tree } = fc.letrec<{ tree: Tree; leaf: Tree }>((tie) => ({
  leaf: fc.oneof(
    { weight: 9, arbitrary: call },
    { weight: 1, arbitrary: fc.constant<Tree>({ tag: 'log' }) },
    { weight: 1, arbitrary: fc.constant<Tree>({ tag: 'fail' }) },
    {
      weight: 1,
      arbitrary: fc.record({ tag: fc.constant('pause' as const), ticks: fc.integer({ min: 1, max: 4 }) }),
    },
  ),
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'medium', withCrossShrink: true },
    { weight: 3, arbitrary: tie('leaf') },
    {
      weight: 5,
      arbitrary: fc.record({
        tag: fc.constantFrom('seq', 'all', 'race', 'any', 'settled'),
        parts: fc.array(tie('tree'), { minLength: 1, maxLength: 4 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ tag: fc.constant('catch' as const), body: tie('tree'), handler: tie('tree') }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        tag: fc.constant('branch' as const),
        on: tie('tree'),
        odd: tie('tree'),
        even: tie('tree'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        tag: fc.constant('loop' as const),
        times: fc.integer({ min: 1, max: 3 }),
        body: tie('tree'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ tag: fc.constant('detach' as const), body: tie('tree') }) },
  ) as fc.Arbitrary<Tree>,
}));

/** At the root several things happen, so that few programs are trivial. */
export const programTree: fc.Arbitrary<Tree> = fc.record({
  tag: fc.constantFrom('seq', 'all', 'settled', 'race'),
  parts: fc.array(tree, { minLength: 2, maxLength: 4 }),
});

/** The program as an agent could have written it. */
export function textOf(root: Tree): string {
  return `
const h = (v) => { let n = 7; for (const c of JSON.stringify(v) ?? 'u') n = (n * 31 + c.charCodeAt(0)) % 9973; return n; };
const run = ${node(root)};
return await run(1);`;
}

function node(tree: Tree): string {
  switch (tree.tag) {
    case 'call':
      return `async (x) => h(await apps.notes.${tree.name}({ n: ${tree.n}, x }))`;
    case 'seq':
      return `async (x) => { ${tree.parts.map((part) => `x = await (${node(part)})(x);`).join(' ')} return x; }`;
    case 'all':
      return `async (x) => h(await Promise.all([${started(tree.parts)}]))`;
    case 'race':
      return `async (x) => Promise.race([${started(tree.parts)}])`;
    case 'any':
      return `async (x) => Promise.any([${started(tree.parts)}])`;
    case 'settled':
      return `async (x) => h((await Promise.allSettled([${started(tree.parts)}])).map((r) => r.value ?? r.reason.name))`;
    case 'catch':
      return `async (x) => { try { return await (${node(tree.body)})(x); } catch (e) { return (${node(tree.handler)})(h(e.name + e.message)); } }`;
    case 'branch':
      return `async (x) => { x = await (${node(tree.on)})(x); return x % 2 ? (${node(tree.odd)})(x) : (${node(tree.even)})(x); }`;
    case 'loop':
      return `async (x) => { for (let i = 0; i < ${tree.times}; i++) x = await (${node(tree.body)})(x + i); return x; }`;
    case 'detach':
      return `async (x) => { (${node(tree.body)})(x).catch(() => {}); return x; }`;
    case 'log':
      return `async (x) => { console.log('at ' + x); return x; }`;
    case 'fail':
      return `async (x) => { throw new Error('failed at ' + x); }`;
    case 'pause':
      return `async (x) => { for (let i = 0; i < ${tree.ticks}; i++) await null; return x; }`;
  }
}

function started(parts: readonly Tree[]): string {
  return parts.map((part) => `(${node(part)})(x)`).join(', ');
}

/** Whether the order in which calls complete can show in the result, even if all of them succeed. */
export function dependsOnOrder(tree: Tree): boolean {
  switch (tree.tag) {
    case 'race':
    case 'any':
    case 'fail':
      return true;
    case 'seq':
    case 'all':
    case 'settled':
      return tree.parts.some(dependsOnOrder);
    case 'catch':
      return dependsOnOrder(tree.body) || dependsOnOrder(tree.handler);
    case 'branch':
      return [tree.on, tree.odd, tree.even].some(dependsOnOrder);
    case 'loop':
    case 'detach':
      return dependsOnOrder(tree.body);
    default:
      return false;
  }
}
