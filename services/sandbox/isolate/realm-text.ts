/**
 * The realm as one text, made from its modules when the sandbox starts: nothing built lies in the repository or
 * in an image, so nothing can be stale. esbuild runs as a process of its own and is gone afterwards.
 */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

export interface RealmText {
  /** Body of a strict closure whose `$0` is the contract's `Emit` and whose value is its `RealmApi`. */
  readonly text: string;
  /** SHA-256 of the text, in hex; part of a run's fingerprint. */
  readonly hash: string;
}

const inRealm = (file: string) => fileURLToPath(new URL(`../realm/${file}`, import.meta.url));

export function buildRealmText(): RealmText {
  const { outputFiles } = buildSync({
    entryPoints: [inRealm('realm.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'realm',
    banner: { js: "'use strict';" },
    footer: { js: 'return realm.create($0);' },
    platform: 'neutral',
    // The full tables of old encodings and of host names would be most of the text, and the libraries would ask
    // for kinds of buffers that the realm removes.
    alias: {
      tr46: inRealm('helpers/idna.ts'),
      'webidl-conversions': inRealm('helpers/webidl.ts'),
      '@exodus/bytes/encoding.js': '@exodus/bytes/encoding-lite.js',
    },
    define: { SharedArrayBuffer: 'ArrayBuffer', 'globalThis.SharedArrayBuffer': 'undefined' },
    mainFields: ['module', 'main'],
    target: 'esnext',
    charset: 'utf8',
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) {
    throw new Error('the realm gave no text');
  }
  return { text: output.text, hash: createHash('sha256').update(output.text).digest('hex') };
}
