/** Stands in for the realm until it is there. */
export const temporaryRealm = `'use strict';
const emit = $0;
const K = { call: 1, log: 2, returned: 3, returnedUndefined: 4, threw: 5, outputTooLarge: 6 };
const AsyncFunction = (async () => {}).constructor;
const pending = new Map();
let outstanding = 0, finished = null, ended = false, next = 0, job;
const finish = () => {
  if (ended || finished === null || outstanding > 0) return;
  ended = true;
  finished();
};
const issue = (binding, args) => {
  const json = JSON.stringify(args ?? {});
  const index = next++;
  outstanding++;
  return new Promise((resolve, reject) => {
    pending.set(index, { resolve, reject });
    emit(K.call, index, binding, json, '');
  });
};
const threw = (e) => () => emit(K.threw, 0, String(e?.name ?? 'Error'), String(e?.message ?? e), '');
return {
  start(jobJson, program) {
    job = JSON.parse(jobJson);
    const apps = {
      call: (name, args) => issue(name, args),
    };
    for (const [c, k] of job.bindings) (apps[c] ??= {})[k] = (args) => issue(c + '.' + k, args);
    const show = (level) => (...a) => emit(K.log, level, a.map(String).join(' '), '', '');
    globalThis.console = { debug: show(0), log: show(1), info: show(1), warn: show(2), error: show(3) };
    globalThis.apps = apps;
    let f;
    try { f = new AsyncFunction('apps', 'console', '"use strict";' + program); }
    catch (e) { finished = threw(e); finish(); return; }
    f(apps, globalThis.console).then(
      (v) => {
        const json = JSON.stringify(v);
        finished = json === undefined
          ? () => emit(K.returnedUndefined, 0, '', '', '')
          : json.length > job.outputBytes
            ? () => emit(K.outputTooLarge, json.length, '', '', '')
            : () => emit(K.returned, 0, json, '', '');
        finish();
      },
      (e) => { finished = threw(e); finish(); },
    );
  },
  settle(index, kind, a, b) {
    const p = pending.get(index);
    if (!p) return false;
    pending.delete(index);
    outstanding--;
    if (kind === 1) p.resolve(JSON.parse(a));
    else {
      const e = new Error(kind === 2 ? b : a);
      e.name = ['', '', 'AppCallFailed', 'AppCallDenied', 'AppInputRequired'][kind];
      if (kind === 2) e.reason = a;
      if (kind === 4) e.operationId = a;
      p.reject(e);
    }
    Promise.resolve().then(() => Promise.resolve().then(finish));
    return true;
  },
  rest() {
    if (ended) return 1;
    finish();
    if (ended) return 1;
    if (outstanding > 0) return 0;
    ended = true;
    emit(K.threw, 0, 'Error', 'The program waits for something that can never happen.', '');
    return 1;
  },
};`;
