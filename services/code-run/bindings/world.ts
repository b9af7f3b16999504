/**
 * What every program finds besides its connections, as TypeScript: the shape of results, the errors of calls
 * and the globals. Stands beside the standard library of `lib: esnext`.
 */
import type { CapabilityKind } from '../core/model.ts';

/** Results in the shape of the Model Context Protocol. */
export const resultDeclarations = `/** What a tool gives: exactly what the app sent. */
interface ToolResult<Structured = unknown> {
  /** Mostly text: result.content[0].text */
  content: Content[];
  /** The result as data, typed where the app says how. */
  structuredContent: Structured;
  /** The tool failed; content says why. Nothing is thrown. */
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

/** One piece of content. Which fields are set depends on type. */
interface Content {
  type: "text" | "image" | "audio" | "resource" | "resource_link";
  /** Of text. */
  text: string;
  /** Of image and audio: base64. */
  data: string;
  mimeType?: string;
  /** Of resource. */
  resource: ResourceContent;
  /** Of resource_link. */
  uri: string;
  name: string;
  title?: string;
  description?: string;
  annotations?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

/** What a resource gives. */
interface ReadResourceResult {
  contents: ResourceContent[];
  _meta?: Record<string, unknown>;
}

interface ResourceContent {
  uri: string;
  mimeType?: string;
  /** Of a text. */
  text: string;
  /** Of anything else: base64. */
  blob?: string;
  _meta?: Record<string, unknown>;
}

/** What a prompt gives. */
interface GetPromptResult {
  description?: string;
  messages: { role: "user" | "assistant"; content: Content }[];
  _meta?: Record<string, unknown>;
}
`;

/** The same in few words, as far as `kinds` need it: for texts that stand alone. */
export function briefResults(kinds: readonly CapabilityKind[]): string {
  const has = (...wanted: CapabilityKind[]) => kinds.some((kind) => wanted.includes(kind));
  return [
    has('tool')
      ? 'interface ToolResult<T = unknown> { content: Content[]; structuredContent: T; isError?: boolean }\n'
      : '',
    has('resource', 'resourceTemplate')
      ? 'interface ReadResourceResult { contents: ResourceContent[] }\n'
      : '',
    has('prompt') ? 'interface GetPromptResult { messages: { role: string; content: Content }[] }\n' : '',
    has('tool', 'prompt')
      ? 'interface Content { type: string; text: string; data?: string; mimeType?: string; resource?: ResourceContent }\n'
      : '',
    'interface ResourceContent { uri: string; mimeType?: string; text: string; blob?: string }\n',
  ].join('');
}

/** The errors of calls: globals, so that a program may ask for the name or for instanceof. */
export const errorDeclarations = `/** A decider did not allow the call. */
declare class AppCallDenied extends Error {
  readonly name: "AppCallDenied";
  /** "work_calendar.list_events" */
  readonly binding: string;
}

/** The call failed. A tool that says isError did not fail in this sense. */
declare class AppCallFailed extends Error {
  readonly name: "AppCallFailed";
  readonly binding: string;
  readonly reason:
    | "ToolError"
    | "Timeout"
    | "Unavailable"
    | "InvalidArguments"
    | "NotFound"
    | "OutcomeUnknown"
    | "ResultTooLarge"
    | "Cancelled"
    | "Internal";
}

/** The app needs more input; it is given to the app operation, outside the code. */
declare class AppInputRequired extends Error {
  readonly name: "AppInputRequired";
  readonly binding: string;
  readonly operationId: string;
}
`;

/** `apps`, before any connection is added to it. */
export const appsDeclaration = `/** The connections, by name. Each connection's file adds itself. */
interface Apps {
  /** Calls a binding by name: "work_calendar.list_events", or by the raw names: "Work calendar/list-events". */
  call<Name extends string>(
    name: string extends Name ? Name : Name extends keyof AppCalls ? Name : "the name of a binding",
    ...args: Name extends keyof AppCalls ? Parameters<AppCalls[Name]> : [args?: object]
  ): Name extends keyof AppCalls ? ReturnType<AppCalls[Name]> : Promise<unknown>;
}

/** What apps.call takes. */
interface AppCalls {}

/** A connection that a program does not name. */
interface OtherApp {
  readonly [name: string]: (args?: object) => Promise<any>;
}

declare var apps: Apps;
`;

/** The helpers that the realm provides besides the language's own. */
export const globalDeclarations = `interface Console {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  debug(...values: unknown[]): void;
}

declare var console: Console;

declare var crypto: { randomUUID(): \`\${string}-\${string}-\${string}-\${string}-\${string}\` };

declare function structuredClone<T>(value: T): T;
declare function queueMicrotask(callback: () => void): void;
declare function atob(data: string): string;
declare function btoa(data: string): string;

declare class TextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array;
  encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}

declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL | null;
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: URLSearchParams;
  username: string;
  toJSON(): string;
  toString(): string;
}

declare class URLSearchParams {
  constructor(init?: string | URLSearchParams | Record<string, string> | Iterable<readonly [string, string]>);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  entries(): IterableIterator<[string, string]>;
  forEach(callback: (value: string, key: string, parent: URLSearchParams) => void): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  keys(): IterableIterator<string>;
  set(name: string, value: string): void;
  sort(): void;
  toString(): string;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
`;

/** All of it: what a program is checked against, before the connections. */
export const worldDeclarations = [
  globalDeclarations,
  resultDeclarations,
  errorDeclarations,
  appsDeclaration,
].join('\n');
