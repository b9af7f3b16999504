/** The parts of the bundled libraries that the realm uses. Their own types need those of a browser. */
declare module 'whatwg-url' {
  export const URL: { readonly prototype: { toString(): string } };
  export const URLSearchParams: { readonly prototype: { toString(): string } };
}

declare module '@exodus/bytes/encoding-lite.js' {
  export const TextDecoder: object;
  export const TextEncoder: object;
}

declare module 'punycode/punycode.es6.js' {
  export function encode(text: string): string;
}
