// Ends: RETURNED
// Value: {"i":1}
for (const key of ['0', '1', 'get', 'set', 'value', 'then', 'index', 'resolve', 'reject', 'writable']) {
  Object.defineProperty(Object.prototype, key, {
    __proto__: null,
    get() { return undefined; },
    set() { throw new Error('caught you'); },
    configurable: true,
  });
}
const answer = await apps.notes.read({ i: 1 });
return { __proto__: null, i: answer.i };
