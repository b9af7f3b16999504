/**
 * What a program may look for and does not find, and what to do instead: what a check says before the program
 * runs. The realm says the same when it runs, from its own copy, since it imports nothing; a test holds the two
 * together.
 */
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

const help: ReadonlyMap<string, string> = new Map(
  Object.entries({
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
  }),
);

/** The names, for whoever compares. */
export const absentNames: readonly string[] = [...help.keys()];

/** What using the name leads to; undefined of a name that is not one of them. */
export function absentText(name: string): string | undefined {
  const advice = help.get(name);
  return advice === undefined ? undefined : `${name} is not defined. ${advice}`;
}

export const importText = `import() is not available. ${modules}`;
