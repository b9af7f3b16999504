/** A check says of what is not there what a run says, though neither part may import the other. */
import { readFileSync } from 'node:fs';
import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { compileCatalog } from '../../services/code-run/bindings/compile.ts';
import { absentNames, absentText } from '../../services/code-run/program/absent.ts';
import { ProgramChecker } from '../../services/code-run/program/check.ts';
import { nearest as nearestInRealm } from '../../services/sandbox/realm/nearest.ts';
import { nearest } from '../../services/shared/nearest.ts';
import { useRealm } from '../realm/harness/realm.ts';

const { thrown } = useRealm();
const many = Array.from({ length: 60 }, (_, index) => ({ name: `unlike-${index}` }));
const catalog = create(CatalogSchema, {
  connections: [
    { id: '1', name: 'Notes', tools: [{ name: 'read-note' }, { name: 'list-notes' }] },
    { id: '2', name: 'Mail', tools: [{ name: 'send' }, { name: 'x' }], prompts: [{ name: 'x' }] },
    { id: '3', name: 'Many', tools: many },
  ],
});
const compiled = compileCatalog(catalog);
const checker = new ProgramChecker();
const job = {
  bindings: compiled.bindings.map(
    ({ connection, capability, source, rawName }) =>
      [connection, capability, source.connectionName, rawName] as const,
  ),
};

describe('a check and a run', () => {
  test('know of the same absent names', () => {
    const source = readFileSync(new URL('../../services/sandbox/realm/absent.ts', import.meta.url), 'utf8');
    const table = source.slice(source.indexOf('const help:'), source.indexOf('\n};'));
    const names = [...table.matchAll(/^ {2}(\w+): /gm)].map(([, name]) => name);
    expect(absentNames).toEqual(names.filter((name) => name !== '__proto__'));
    expect(absentNames.length).toBeGreaterThan(40);
  });

  test.each(absentNames.map((name) => [name]))('say the same of %s', async (name) => {
    expect((await thrown(`return ${name}.x;`)).message).toBe(absentText(name));
  });

  test.each([
    'return fetch("https://example.com");',
    'return require("fs");',
    'return apps.nots.read_note({});',
    'return apps.notes.raed_note({});',
    'return notes.read_note({});',
    'return await read_note({});',
    'return await send({});',
    'return x;',
    'return apps.notes.readNote({});',
    'return apps.read_note({});',
    'return apps.zzzzzz.x({});',
    'return apps.many.zzzzzz({});',
    'return apps["Notes"]["read-note"]({});',
    'return apps.notes["read-note"]({});',
    'return apps.notes["!?"]({});',
    'return apps.notes.__proto__;',
    'return apps.call("notes.raed_note", {});',
    'return apps.call("Notes/read", {});',
    'return apps.call("Mail/x", {});',
    'return apps.call("zzzzzz", {});',
    'const { mial } = apps; return mial;',
    'const { notes: { raed_note } } = apps; return raed_note;',
    `return apps.notes.${'n'.repeat(90)}();`,
  ])('say the same of a mistake: %s', async (code) => {
    const [finding] = await checker.check(code, compiled);
    expect(finding?.message).toBe((await thrown(code, { job })).message);
  });

  test('find the same names near to one that is not there', () => {
    const word = fc.constantFrom('list', 'List', 'get', 'notes', 'note', 'events', 'a', 'ab', '笔记', '1');
    const name = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join('_'));
    const typed = fc.tuple(name, fc.constantFrom('', 'x', '-', 'S')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(typed, fc.array(name, { maxLength: 8 }), (wanted, names) => {
        // The realm's lists have no prototype.
        expect(nearest(wanted, names)).toEqual(Array.from(nearestInRealm(wanted, names as never) as never));
      }),
    );
  });
});
