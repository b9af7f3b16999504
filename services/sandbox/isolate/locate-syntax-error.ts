/**
 * Where the engine finds the first syntax error of a script. The script is compiled and never run. isolated-vm
 * gives the place at the end of the error's message, behind the name of the file.
 */
import type { Isolate } from 'isolated-vm';

/** "line:column", or "" if the script compiles. */
export function locateSyntaxError(isolate: Isolate, script: string): string {
  try {
    isolate.compileScriptSync(script, { filename: 'program' }).release();
    return '';
  } catch (error) {
    const place = /\[program:(\d+:\d+)\]$/.exec(error instanceof Error ? error.message : '');
    return place?.[1] ?? '';
  }
}
