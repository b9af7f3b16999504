/** The three real MCP servers, on fresh copies of the fixture, and temporary folders. */
import { cp, mkdtemp, realpath, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseServers, type ServerConfig } from '../../services/reference-core/mcp/config.ts';

const fixtures = path.join(import.meta.dirname, '../fixtures');

export interface Workspace extends AsyncDisposable {
  /** Root of the fixture copy that the filesystem server may use. */
  readonly root: string;
  /** File of the memory server. */
  readonly memoryFile: string;
  readonly servers: readonly ServerConfig[];
  /** The same as the text of a configuration file. */
  readonly json: string;
}

/** A folder that is removed when it is disposed of. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'code-mode-test-')));
  return {
    path: folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

export async function realServers(): Promise<Workspace> {
  const folder = await temporaryFolder();
  const root = path.join(folder.path, 'root');
  const memoryFile = path.join(folder.path, 'memory.jsonl');
  await cp(path.join(fixtures, 'programs/fixture'), root, { recursive: true });
  await cp(path.join(fixtures, 'programs/memory-seed.jsonl'), memoryFile);
  const node = process.execPath;
  const json = JSON.stringify({
    mcpServers: {
      everything: { command: node, args: [entryOf('everything'), 'stdio'] },
      filesystem: { command: node, args: [entryOf('filesystem'), root] },
      memory: { command: node, args: [entryOf('memory')], env: { MEMORY_FILE_PATH: memoryFile } },
    },
  });
  return {
    root,
    memoryFile,
    json,
    servers: parseServers(json, 'test', {}),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** The script of a server package. */
export function entryOf(server: 'everything' | 'filesystem' | 'memory'): string {
  const require = createRequire(import.meta.url);
  return path.join(
    path.dirname(require.resolve(`@modelcontextprotocol/server-${server}/package.json`)),
    'dist/index.js',
  );
}

/** A server that does what its one argument says, for what well-behaved servers never do. */
export function oddServer(behaviour: string, name = 'odd'): ServerConfig {
  return {
    transport: 'stdio',
    name,
    command: process.execPath,
    args: [path.join(fixtures, 'mcp/odd-server.mjs'), behaviour],
    env: {},
  };
}
