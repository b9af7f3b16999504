/**
 * Modules as one text, made when the sandbox starts: nothing built lies in the repository or in an image, so
 * nothing can be stale.
 */
import { type BuildOptions, build, stop } from 'esbuild';

export async function bundle(entry: string, options: BuildOptions): Promise<string> {
  try {
    const { outputFiles } = await build({
      ...options,
      entryPoints: [entry],
      bundle: true,
      write: false,
      logLevel: 'silent',
    });
    const [file] = outputFiles ?? [];
    if (file === undefined) throw new Error(`${entry} gave no text`);
    return file.text;
  } finally {
    // esbuild is a process of its own, and would stay.
    await stop();
  }
}
