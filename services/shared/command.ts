/** How a command ends when it cannot go on: one line a problem on standard error, and code 1. */
import { ConfigError } from './config.ts';

export function failWith(command: string, error: unknown): never {
  const problems =
    error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : String(error)];
  for (const problem of problems) process.stderr.write(`${command}: ${problem}\n`);
  process.exit(1);
}
