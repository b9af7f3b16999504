/** Runs the TypeScript compiler of this repository over texts, with `--strict` and no library but the language's. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const compiler = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));

/** The errors, one a line: "programs.ts(3,7): error TS2345: …". */
export async function typeErrors(files: Readonly<Record<string, string>>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'declarations-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const config = {
      compilerOptions: {
        strict: true,
        noEmit: true,
        lib: ['esnext'],
        target: 'esnext',
        types: [],
        skipLibCheck: false,
      },
      files: Object.keys(files),
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const output = await new Promise<string>((resolve, reject) => {
      execFile(
        compiler,
        ['-p', '.'],
        { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => {
          // The compiler exits with 1 or 2 when there are errors in the texts; without any output it failed itself.
          if (error !== null && stdout === '') reject(new Error(stderr, { cause: error }));
          else resolve(stdout);
        },
      );
    });
    return output.split('\n').filter((line) => line !== '');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
