/** The program of zygotes and children, in which the engine makes new pages between any preparation and the fork. */
import ffi from 'node:ffi';

const { dlopen } = ffi;
const kept: number[][] = [];

function makePages(): void {
  for (let made = 0; made < 1000; made++) kept.push(new Array<number>(1000).fill(1.5));
}

Object.assign(ffi, {
  dlopen(...args: Parameters<typeof dlopen>) {
    const opened = dlopen(...args);
    const { fork } = opened.functions;
    if (fork === undefined) return opened;
    const forkLate = () => {
      makePages();
      return fork();
    };
    return { ...opened, functions: { ...opened.functions, fork: forkLate } };
  },
});

export const main = async (
  role: Parameters<typeof import('../../services/sandbox/isolate/main.ts').main>[0],
) => {
  const program = await import('../../services/sandbox/isolate/main.ts');
  return program.main(role);
};
