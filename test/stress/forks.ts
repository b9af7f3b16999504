/**
 * Forks children from many zygotes, each with its own layout of memory, and tells of every child that was not ready.
 * ZYGOTES, FORKS of each and AT_ONCE set how many; LOG_ONLY=1 lets through what the filter would end, and the kernel's log
 * says what it was.
 */
import { buildRealmText } from '../../services/sandbox/isolate/realm-text.ts';
import { ChildProgram } from '../../services/sandbox/pool/child-program.ts';
import { ForkedChildren } from '../../services/sandbox/pool/forked-children.ts';
import { settingRanges } from '../../services/shared/limits.ts';

const count = (name: string, initial: number) => Number(process.env[name] ?? initial);
const zygotes = count('ZYGOTES', 500);
const forks = count('FORKS', 100);
const atOnce = count('AT_ONCE', 4);
const logOnly = process.env['LOG_ONLY'] === '1';
const setting = { memoryMb: settingRanges.memoryMb.initial, timeoutMs: settingRanges.timeoutMs.initial };

const realm = (await buildRealmText()).text;
const program = await ChildProgram.bundle({ jit: false });
let ready = 0;
let failed = 0;

async function forkFrom(source: ForkedChildren, zygote: number, numbers: Iterator<number>): Promise<void> {
  for (let next = numbers.next(); next.done !== true; next = numbers.next()) {
    try {
      const { child } = await source.make(setting);
      ready++;
      child.kill();
      child.socket.destroy();
      await child.exited;
    } catch (error) {
      failed++;
      process.stderr.write(`zygote ${zygote}, fork ${next.value}: ${error}\n`);
    }
  }
}

for (let zygote = 1; zygote <= zygotes; zygote++) {
  const source = await ForkedChildren.listen(program, { realm, jit: false, logOnly });
  const numbers = Array.from({ length: forks }, (_, index) => index + 1).values();
  await Promise.all(Array.from({ length: atOnce }, () => forkFrom(source, zygote, numbers)));
  await source.close();
}
process.stdout.write(`${zygotes} zygotes: ${ready} children were ready, ${failed} were not\n`);
process.exitCode = failed === 0 ? 0 : 1;
