/**
 * grpcurl as the tests use it: from .tools/bin (`make tools`) or PATH. A machine without it skips these tests;
 * CI sets REQUIRE_TOOLS, and there a missing tool is an error.
 */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const { PATH = '', REQUIRE_TOOLS } = process.env;

const folders = [join(import.meta.dirname, '../../.tools/bin'), ...PATH.split(delimiter)];

export function findTool(name: string, among: readonly string[] = folders): string | undefined {
  for (const folder of among) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {}
  }
  if (REQUIRE_TOOLS !== undefined) throw new Error(`${name} is missing: run "make tools"`);
  return undefined;
}

export interface Exit {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export const grpcurl: string | undefined = findTool('grpcurl');

/** Runs grpcurl to its end, `input` on standard input. */
export function runGrpcurl(args: readonly string[], input = ''): Promise<Exit> {
  if (grpcurl === undefined) throw new Error('grpcurl is missing: run "make tools"');
  return run(grpcurl, args, input);
}

export function run(path: string, args: readonly string[], input = ''): Promise<Exit> {
  return new Promise((resolve) => {
    const child = execFile(path, args, { maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}
