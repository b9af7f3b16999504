/**
 * Function.prototype.toString: the text of a program's own functions is shown, and everything else reads as the
 * engine's. How the realm is written must be no fact that a program, and so a replay, depends on.
 */
import { apply, define, getOwnPropertyDescriptor, indexOf } from './primordials.ts';

let program = '';

export function setProgramText(text: string): void {
  program = text;
}

export function installFunctionText(): void {
  const native = Function.prototype.toString;
  const methods = {
    toString(this: object): string {
      const text = apply(native, this, []) as string;
      if (indexOf(text, '[native code]') !== -1 || indexOf(program, text) !== -1) {
        return text;
      }
      const name = getOwnPropertyDescriptor(this, 'name')?.value as unknown;
      return `function ${typeof name === 'string' ? name : ''}() { [native code] }`;
    },
  };
  define(Function.prototype, 'toString', methods.toString);
}
