/**
 * Reads the `mcpServers` JSON that MCP clients share. Pure but for the variables it is given.
 *
 * Fields of other clients are ignored. `${NAME}` and `${NAME:-default}` inside texts are replaced by
 * environment variables. Every error names the server and the field.
 */
import { z } from 'zod';
import { AppError, type FieldViolation } from '../../shared/errors.ts';
import { parseJsonFile } from '../../shared/json.ts';
import { limits } from '../../shared/limits.ts';

/** A server that is started as a child process and spoken to over its standard streams. */
export interface StdioServer {
  readonly transport: 'stdio';
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server that is reached by streamable HTTP. */
export interface HttpServer {
  readonly transport: 'http';
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type ServerConfig = StdioServer | HttpServer;

type Variables = Readonly<Record<string, string | undefined>>;

const text = z.string({ error: 'must be a text' });
const filled = text.min(1, 'must not be empty');
const texts = z.record(text, text, { error: 'must be an object of texts' });
const httpTypes = ['http', 'streamable-http', 'streamableHttp'];

const entry = z.looseObject(
  {
    type: text.optional(),
    command: filled.optional(),
    args: z.array(text, { error: 'must be a list of texts' }).optional(),
    env: texts.optional(),
    cwd: filled.optional(),
    url: filled.optional(),
    headers: texts.optional(),
    disabled: z.boolean({ error: 'must be true or false' }).optional(),
  },
  { error: 'must be an object' },
);
type Entry = z.infer<typeof entry>;

const file = z.looseObject(
  { mcpServers: z.record(z.string(), z.unknown(), { error: 'must be an object of servers by name' }) },
  { error: 'must be an object with the field "mcpServers"' },
);

/** Parses the text of a configuration file. `origin` names it in errors. */
export function parseServers(json: string, origin: string, variables: Variables): ServerConfig[] {
  const parsed = file.safeParse(parseJsonFile(json, origin));
  if (!parsed.success)
    throw invalid(
      origin,
      parsed.error.issues.map((issue) => violation([], issue)),
    );

  const violations: FieldViolation[] = [];
  const servers: ServerConfig[] = [];
  for (const [name, raw] of Object.entries(parsed.data.mcpServers)) {
    const result = readEntry(name, raw, variables);
    if (Array.isArray(result)) violations.push(...result);
    else if (result !== undefined) servers.push(result);
  }
  if (violations.length > 0) throw invalid(origin, violations);
  return servers;
}

/** A server, nothing if it is disabled, or what is wrong with it. */
function readEntry(
  name: string,
  raw: unknown,
  variables: Variables,
): ServerConfig | FieldViolation[] | undefined {
  const at = ['mcpServers', name];
  const parsed = entry.safeParse(raw);
  if (!parsed.success) return parsed.error.issues.map((issue) => violation(at, issue));
  if (parsed.data.disabled === true) return undefined;
  const wrong = (field: string | undefined, description: string): FieldViolation[] => [
    { field: path(field === undefined ? at : [...at, field]), description },
  ];
  const nameBytes = Buffer.byteLength(name);
  if (nameBytes === 0 || nameBytes > limits.idBytesMax) {
    return wrong(undefined, `the name of a server is 1 to ${limits.idBytesMax} bytes long`);
  }

  const missing = new Set<string>();
  const data = expandEntry(parsed.data, variables, missing);
  if (missing.size > 0) {
    return wrong(undefined, `the environment variable ${[...missing].join(', ')} is not set`);
  }
  if (data.command !== undefined && data.url !== undefined) {
    return wrong(undefined, 'has both "command" and "url"; keep the one that is meant');
  }
  if (data.command !== undefined) {
    if (data.type !== undefined && data.type !== 'stdio') {
      return wrong('type', `is "${data.type}", but a server with "command" is "stdio"`);
    }
    return {
      transport: 'stdio',
      name,
      command: data.command,
      args: data.args ?? [],
      env: data.env ?? {},
      ...(data.cwd === undefined ? {} : { cwd: data.cwd }),
    };
  }
  if (data.url === undefined) {
    return wrong(undefined, 'needs "command" (a program to start) or "url" (a server to reach)');
  }
  if (data.type !== undefined && !httpTypes.includes(data.type)) {
    return wrong('type', `is "${data.type}"; a server with "url" is reached by streamable HTTP: use "http"`);
  }
  if (!isHttpUrl(data.url)) return wrong('url', 'must be an http:// or https:// address');
  const { username, password } = new URL(data.url);
  if (username !== '' || password !== '') {
    return wrong('url', 'must hold no user name and password; "headers" can hold an Authorization');
  }
  return { transport: 'http', name, url: data.url, headers: data.headers ?? {} };
}

function isHttpUrl(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}

function expandEntry(data: Entry, variables: Variables, missing: Set<string>): Entry {
  const expand = (value: string): string =>
    value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => {
      const replacement = variables[name] ?? fallback;
      if (replacement === undefined) missing.add(name);
      return replacement ?? '';
    });
  const expandAll = (values: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, expand(value)]));
  return {
    ...data,
    ...(data.command === undefined ? {} : { command: expand(data.command) }),
    ...(data.args === undefined ? {} : { args: data.args.map(expand) }),
    ...(data.env === undefined ? {} : { env: expandAll(data.env) }),
    ...(data.cwd === undefined ? {} : { cwd: expand(data.cwd) }),
    ...(data.url === undefined ? {} : { url: expand(data.url) }),
    ...(data.headers === undefined ? {} : { headers: expandAll(data.headers) }),
  };
}

function violation(prefix: readonly string[], issue: z.core.$ZodIssue): FieldViolation {
  return { field: path([...prefix, ...issue.path]), description: issue.message };
}

/** `mcpServers.files.args[1]`. */
function path(parts: readonly PropertyKey[]): string {
  return parts.reduce<string>(
    (all, part) =>
      typeof part === 'number' ? `${all}[${part}]` : all === '' ? String(part) : `${all}.${String(part)}`,
    '',
  );
}

function invalid(origin: string, violations: readonly FieldViolation[]): AppError {
  const lines = violations.map(({ field, description }) =>
    field === '' ? description : `${field}: ${description}`,
  );
  return new AppError('INVALID_ARGUMENT', `${origin}: ${lines.join('; ')}`, { violations });
}
