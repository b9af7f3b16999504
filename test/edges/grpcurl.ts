/** Programs that tests run, and grpcurl as they use it: from .tools/bin (`make tools`) or PATH. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { available } from '../support/available.ts';

const { PATH = '' } = process.env;

const folders = [join(import.meta.dirname, '../../.tools/bin'), ...PATH.split(delimiter)];

export function findTool(name: string, among: readonly string[] = folders): string | undefined {
  return among.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const grpcurl = findTool('grpcurl');

/** Whether suites with grpcurl can run. `suite` names the one that asks. */
export function grpcurlAvailable(suite: string): boolean {
  return available(
    suite,
    grpcurl === undefined ? 'no grpcurl in .tools/bin or on PATH (make tools)' : undefined,
  );
}

/** Path of grpcurl, for a suite that asked. */
export function grpcurlPath(): string {
  if (grpcurl === undefined) throw new Error('grpcurlAvailable was not asked');
  return grpcurl;
}

export interface Exit {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs grpcurl to its end, `input` on standard input. */
export function runGrpcurl(args: readonly string[], input = ''): Promise<Exit> {
  return run(grpcurlPath(), args, input);
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
