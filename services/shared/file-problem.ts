/** Why a file could not be read, in words for the person who named it. */
const words: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
};

export function fileProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ('code' in error && words[String(error.code)]) || error.message;
}
