/**
 * Suites that need a real server which this machine may lack: without it the suite says loudly that it did
 * not run; with CI=true that is a failure.
 */
import { accessSync, constants, writeSync } from 'node:fs';
import { join } from 'node:path';

const { CI } = process.env;

/** `lack`: what is missing, and how to get it; undefined if nothing is. */
export function available(suite: string, lack: string | undefined): boolean {
  if (lack === undefined) {
    return true;
  }
  if (CI === 'true') {
    throw new Error(`${suite} must run in CI: ${lack}`);
  }
  writeSync(2, `\n*** DID NOT RUN: ${suite}: ${lack}\n\n`);
  return false;
}

/** Path of a program that `make tools` puts into .tools/bin; undefined if it is not there. */
export function builtTool(name: string): string | undefined {
  const path = join(import.meta.dirname, '../../.tools/bin', name);
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return undefined;
  }
}
