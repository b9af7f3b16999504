/** What kind of thing an object is, told by its prototypes: nothing of the object is run. */
import {
  getOwnPropertyDescriptor,
  getPrototypeOf,
  ObjectPrototype,
  PromisePrototype,
} from './primordials.ts';

/** The name of the class, without running anything of it. */
export function nameOf(value: object): string {
  let prototype = getPrototypeOf(value);
  if (prototype === null) {
    return '[Object: null prototype]';
  }
  for (let steps = 0; prototype !== null && steps < 100; steps += 1) {
    const constructor = getOwnPropertyDescriptor(prototype, 'constructor')?.value as unknown;
    if (typeof constructor === 'function') {
      const name = ownText(constructor, 'name');
      if (name !== undefined && name !== '') {
        return name;
      }
    }
    prototype = getPrototypeOf(prototype);
  }
  return 'Object';
}

export function isPromiseLike(value: object): boolean {
  let prototype = getPrototypeOf(value);
  for (let steps = 0; prototype !== null && steps < 100; steps += 1) {
    if (prototype === PromisePrototype) {
      return true;
    }
    prototype = prototype === ObjectPrototype ? null : getPrototypeOf(prototype);
  }
  return false;
}

/** An own property that is plainly a string. */
export function ownText(value: object, key: string): string | undefined {
  const property = getOwnPropertyDescriptor(value, key);
  return property !== undefined && typeof property.value === 'string' ? property.value : undefined;
}
