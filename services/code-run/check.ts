/**
 * Looks at what the settings name on this machine, without using any of it: nothing is made, nothing is asked over
 * the network. A start, an operator's command and --print-config all do it first.
 */
import { statSync } from 'node:fs';
import { ConfigError } from '../shared/config.ts';
import { checkFile } from '../shared/file-check.ts';
import { tlsClientFileProblems, tlsServerFileProblems } from '../shared/tls-config.ts';
import type { CodeRunConfig } from './config.ts';
import { folderProblems } from './data-folder.ts';
import { localKeyProblems } from './keys.ts';
import { checkStoreUrl, sqlitePath } from './store/open.ts';

/** Throws ConfigError. */
export async function checkCodeRun(config: CodeRunConfig): Promise<void> {
  const problems = [
    ...tlsServerFileProblems('CODE_RUN_', config),
    ...tlsClientFileProblems('CODE_RUN_SANDBOX_', config),
    ...tokenFileProblems(config),
    ...localKeyProblems(config),
    ...(await storeProblems(config)),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
}

/** An agent writes the token, and may come later than this service. */
function tokenFileProblems({ transitTokenFile: file }: CodeRunConfig): string[] {
  const problem = file === undefined ? undefined : checkFile(file, { secret: true, mayBeMissing: true });
  return problem === undefined ? [] : [`CODE_RUN_TRANSIT_TOKEN_FILE: cannot use ${file}: ${problem}`];
}

async function storeProblems({ store, storeSetting }: CodeRunConfig): Promise<string[]> {
  const problem = await checkStoreUrl(store);
  if (problem !== undefined) return [`${storeSetting} ${problem}`];
  const path = sqlitePath(store);
  if (path === undefined) return [];
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    return [`${storeSetting} names a folder, ${path}: name a file`];
  }
  return folderProblems(storeSetting, path);
}
