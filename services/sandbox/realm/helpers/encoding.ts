/** TextEncoder and TextDecoder: all encodings of the standard but the multi-byte ones of old. */
export { TextDecoder, TextEncoder } from '@exodus/bytes/encoding-lite.js';
