/**
 * Pure helpers that programs reach for. The large ones are loaded when a program first looks at them, so that
 * the others do not pay for them. They are libraries for the program, not part of the bridge: what a program
 * breaks of the language, it breaks for them too.
 */
import { whileLoading } from './absent.ts';
import { atob, btoa } from './helpers/base64.ts';
import { structuredClone } from './helpers/structured-clone.ts';
import { define, defineAccessor, Promise, TypeError, thenOf } from './primordials.ts';
import { addTextReader } from './readers.ts';
import { needStackRoom } from './stack-room.ts';

/** esbuild keeps what is required in a function of its own and runs it once, at the first call. */
declare function require(id: './helpers/url.ts'): typeof import('./helpers/url.ts');
declare function require(id: './helpers/encoding.ts'): typeof import('./helpers/encoding.ts');

const urls = once(() => {
  const { URL, URLSearchParams } = require('./helpers/url.ts');
  addTextReader(URL.prototype.toString);
  addTextReader(URLSearchParams.prototype.toString);
  return { URL, URLSearchParams };
});
const encodings = once(() => require('./helpers/encoding.ts'));

/** Runs a load once. Gives undefined while it loads: a library that looks for what it makes itself finds nothing. */
function once<T extends object>(load: () => T): () => Partial<T> {
  let loaded: T | undefined;
  let loading = false;
  return () => {
    if (loaded === undefined && !loading) {
      needStackRoom();
      loading = true;
      try {
        loaded = whileLoading(load);
      } finally {
        loading = false;
      }
    }
    return loaded ?? {};
  };
}

export function installHelpers(): void {
  const helpers = {
    structuredClone: (value: unknown, options?: never) => structuredClone(value, options),
    atob: (data: unknown) => atob(data),
    btoa: (data: unknown) => btoa(data),
    queueMicrotask: (task: unknown) => queueMicrotask(task),
  };
  for (const name of Object.keys(helpers) as (keyof typeof helpers)[]) {
    define(globalThis, name, helpers[name]);
  }
  defineLazily('URL', () => urls().URL);
  defineLazily('URLSearchParams', () => urls().URLSearchParams);
  defineLazily('TextEncoder', () => encodings().TextEncoder);
  defineLazily('TextDecoder', () => encodings().TextDecoder);
}

/** Stays a getter, so that it works on a frozen global object too. */
function defineLazily(name: string, load: () => unknown): void {
  let value: unknown;
  defineAccessor(
    globalThis,
    name,
    () => {
      if (value === undefined) {
        value = load();
        if (value !== undefined) {
          // The bundle may have given the class another name, since the global of that name stands beside it.
          define(value as object, 'name', name);
        }
      }
      return value;
    },
    (replacement) => define(globalThis, name, replacement),
  );
}

const settled = Promise.resolve();
define(settled, 'constructor', undefined);

/** An error of the task becomes a rejection that nothing handles, and so a warning. */
function queueMicrotask(task: unknown): void {
  if (typeof task !== 'function') {
    throw new TypeError('queueMicrotask takes a function');
  }
  thenOf(settled, () => {
    (task as () => void)();
  });
}
