/**
 * Folders of the files that a start may make: the database of SQLite and the file of keys. Only the folder of
 * the defaults is made by itself. Any other must be there: a mistyped path must not become a new, empty store.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../shared/config.ts';
import { fileProblem } from '../shared/file-problem.ts';

const dataFolder = '.data';

/** What is wrong with the folder of a file that the setting `name` names. */
export function folderProblems(name: string, file: string): string[] {
  const folder = dirname(file);
  if (isDataFolder(folder) || statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return [];
  return [`${name} names a file in ${folder}, which is no folder: make it, or name another`];
}

/** Makes the folder of the defaults, for this user alone, if a setting names a file in it. */
export function makeDataFolder(files: Readonly<Record<string, string | undefined>>): void {
  for (const [name, file] of Object.entries(files)) {
    if (file === undefined || !isDataFolder(dirname(file))) continue;
    try {
      mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
    } catch (error) {
      const folder = resolve(dataFolder);
      throw new ConfigError([
        `${name} names a file in ${folder}, which cannot be made: ${fileProblem(error)}`,
      ]);
    }
  }
}

function isDataFolder(folder: string): boolean {
  return resolve(folder) === resolve(dataFolder);
}
