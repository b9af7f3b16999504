/**
 * What a program may look for and does not find. `typeof` of it is "undefined", as for anything that does not
 * exist; using it fails with an error that says what to do instead.
 *
 * The language has no way to tell `typeof fetch` from `fetch` when the name is looked up. So the program's text
 * decides: a name that it uses without ever asking `typeof` (or `globalThis.name`) becomes a getter that throws
 * the helpful error; a name that it asks about stays truly absent, and the help is added to the engine's own
 * error if nobody catches it.
 */
import { bindingNamed } from './apps.ts';
import {
  define,
  defineAccessor,
  deleteProperty,
  hasOwn,
  match,
  matches,
  ReferenceError,
} from './primordials.ts';

const bindings = 'the apps (Object.keys(apps) lists them)';
const network = `Programs have no network: call ${bindings} instead.`;
const timers = 'Programs have no timers, and time stands still: await the call itself; to retry, call again.';
const modules = `Programs cannot load modules: use the built-ins of the language and ${bindings}.`;
const node = `This is not Node.js: use the built-ins of the language and ${bindings}.`;
const browser = `This is not a browser: use the built-ins of the language and ${bindings}.`;
const files = 'There are no files: use an app that reads and writes them.';
const exported = 'A program exports nothing: write its statements and return the value.';
const threads = 'Programs have no threads and no shared memory: Promise.all makes calls at once.';
const collection = 'Garbage collection cannot be observed here: use Map, WeakMap or plain references.';
const events = 'There are no events: await the call itself.';
const streams = 'There are no streams: a call gives its whole result at once.';
const apps = `The apps are properties of apps: use ${bindings}.`;
const abort = 'A program cannot abort its calls: await them, or return without them.';

const help: { readonly [name: string]: string } = {
  __proto__: null as never,
  fetch: network,
  XMLHttpRequest: network,
  WebSocket: network,
  EventSource: network,
  Request: network,
  Response: network,
  Headers: network,
  FormData: network,
  axios: network,
  setTimeout: timers,
  setInterval: timers,
  setImmediate: timers,
  clearTimeout: timers,
  clearInterval: timers,
  clearImmediate: timers,
  requestAnimationFrame: timers,
  requestIdleCallback: timers,
  performance: 'Time stands still in a program: Date.now() gives the time at which the run was created.',
  require: modules,
  module: exported,
  exports: exported,
  importScripts: modules,
  path: modules,
  os: modules,
  util: modules,
  http: modules,
  https: modules,
  zlib: modules,
  child_process: modules,
  process: 'This is not Node.js: return ends the program, console.log writes, and there is no environment.',
  Buffer: 'This is not Node.js: use Uint8Array, TextEncoder, TextDecoder, atob and btoa.',
  global: 'This is not Node.js: the global object is globalThis.',
  __dirname: files,
  __filename: files,
  fs: files,
  Deno: node,
  Bun: node,
  self: 'There is no worker: the global object is globalThis.',
  window: browser,
  document: browser,
  navigator: browser,
  location: browser,
  localStorage: browser,
  sessionStorage: browser,
  alert: browser,
  prompt: browser,
  Blob: 'There are no blobs: use strings or Uint8Array.',
  File: files,
  Event: events,
  EventTarget: events,
  CustomEvent: events,
  ReadableStream: streams,
  WritableStream: streams,
  TransformStream: streams,
  CompressionStream: streams,
  DecompressionStream: streams,
  TextEncoderStream: streams,
  TextDecoderStream: streams,
  DOMException: 'There is no DOM: throw an Error and set its name.',
  URLPattern: 'There are no URL patterns: use URL and regular expressions.',
  AbortController: abort,
  AbortSignal: abort,
  WebAssembly: 'WebAssembly is not available: write it in JavaScript.',
  SharedArrayBuffer: threads,
  Atomics: threads,
  Worker: threads,
  MessageChannel: threads,
  BroadcastChannel: threads,
  WeakRef: collection,
  FinalizationRegistry: collection,
  tools: apps,
  mcp: apps,
};

/** A use of a name that is no property of something, or a question whether it is there. */
const use = new RegExp(
  `(?:(typeof[\\s(]*|globalThis\\s*\\??\\.\\s*)|(?<![\\w$.#'"]))(${Object.keys(help).join('|')})(?![\\w$])`,
  'g',
);

// The engine compiles a pattern at its first use: here, while no program waits for it.
match(use, 'nothing');

let loading = false;
let usesCrypto = false;

/** Libraries look for what may be there; while they load, nothing is. */
export function whileLoading<T>(load: () => T): T {
  const before = loading;
  loading = true;
  try {
    return load();
  } finally {
    loading = before;
  }
}

/** Prepares the global object for what a program's text uses. */
export function installAbsent(program: string): void {
  const asked = { __proto__: null } as unknown as Record<string, boolean>;
  usesCrypto = matches(/\bcrypto\b/, program);
  use.lastIndex = 0;
  for (let found = match(use, program); found !== undefined; found = match(use, program)) {
    const name = found[2] as string;
    asked[name] = asked[name] === true || found[1] !== undefined;
  }
  for (const name in asked) {
    if (asked[name] === false && !hasOwn(globalThis, name)) {
      defineAccessor(
        globalThis,
        name,
        () => {
          if (loading) {
            return undefined;
          }
          throw new ReferenceError(`${name} is not defined. ${help[name]}`);
        },
        (value) => {
          deleteProperty(globalThis, name);
          define(globalThis, name, value);
        },
      );
    }
  }
}

const undefinedName = /^([\w$]+) is not defined$/;
const noCryptoMember =
  /^crypto\.[\w$]+ is not a function$|\(reading '(?:digest|sign|verify|(?:en|de)crypt|(?:import|export|generate|derive|wrap|unwrap)Key|deriveBits)'\)$/;
const cryptoHelp = 'Of crypto there is randomUUID alone: a program has no hashes and no keys.';
const notCallable = /^(?:globalThis|self|window|global)\.([\w$]+) is not a (?:function|constructor)$/;

/** What an engine's message does not say, to stand behind it. `callsOut`: a call had not settled yet. */
export function helpAfter(name: string, message: string, callsOut: boolean): string {
  const more = helpFor(name, message) || (callsOut && matches(fromPromise, message) ? forgottenAwait : '');
  if (more === '') {
    return '';
  }
  return matches(/[.!?]$/, message) ? ` ${more}` : `. ${more}`;
}

/** What using a promise as if it were its value leads to. */
const fromPromise = /is not a function$|is not iterable|^Cannot (?:read|set) properties of undefined/;
const forgottenAwait =
  'A call had not settled yet when this happened: a call gives a promise, so await it before using its result.';

function helpFor(name: string, message: string): string {
  if (name === 'Error' && message === 'Not supported') {
    return `import() is not available. ${modules}`;
  }
  if (name === 'SyntaxError' && matches(/\b(?:import|export)\b/, message)) {
    return modules;
  }
  if (name === 'SyntaxError' && message === 'Single function literal required') {
    return "A '}' closes the program too early.";
  }
  if (name === 'TypeError' && usesCrypto && matches(noCryptoMember, message)) {
    return cryptoHelp;
  }
  const notDefined = match(undefinedName, message)?.[1];
  const missing = notDefined ?? match(notCallable, message)?.[1];
  const known = missing !== undefined && help[missing];
  return known || (notDefined === undefined ? '' : bindingNamed(notDefined));
}
