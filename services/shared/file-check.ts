/** Whether a file that a setting names can be used. */
import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { fileProblem } from './file-problem.ts';

export interface FileRules {
  /** It holds a secret: nobody but its owner may read it, or its group if it is another's file. */
  readonly secret?: boolean;
  /** It may come later. */
  readonly mayBeMissing?: boolean;
}

/** Why the file cannot be used; undefined: it can. */
export function checkFile(path: string, rules: FileRules = {}): string | undefined {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return 'it is a folder';
    accessSync(path, constants.R_OK);
    return rules.secret === true && isOpen(stats) ? tooOpen(stats) : undefined;
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return missing && rules.mayBeMissing === true ? undefined : fileProblem(error);
  }
}

/**
 * A file of this user is for this user alone. One of another user (root's, as an orchestrator mounts it) is read
 * by the group, or by nobody.
 */
function isOpen({ mode, uid }: Stats): boolean {
  const own = uid === process.getuid?.();
  return (mode & (own ? 0o077 : 0o007)) !== 0;
}

function tooOpen({ mode }: Stats): string {
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  return `it must be for its owner alone (chmod 600), its mode is ${octal}`;
}
