/** The realm as one text. */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.ts';

export interface RealmText {
  /** Body of a strict closure whose `$0` is the contract's `Emit` and whose value is its `RealmApi`. */
  readonly text: string;
  /** SHA-256 of the text, in hex; part of a run's fingerprint. */
  readonly hash: string;
}

const inRealm = (file: string) => fileURLToPath(new URL(`../realm/${file}`, import.meta.url));

export async function buildRealmText(): Promise<RealmText> {
  const text = await bundle(inRealm('realm.ts'), {
    // Names of packages in `alias` are looked up from here, wherever the service was started.
    absWorkingDir: inRealm('.'),
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
  });
  return { text, hash: createHash('sha256').update(text).digest('hex') };
}
