/**
 * One sealed field: compress, encrypt, split. What is small stays in its row; what is large goes into chunk
 * rows, and the row keeps a sealed manifest that names them.
 *
 * F1  A field is bound to its context (run, kind, position and the clear columns beside it).
 * F2  A chunk is bound to run, blob, index and number of chunks; the blob id is new with every write and
 *     stands in the manifest, so chunks cannot be moved, left out, reordered or taken from an older write.
 * F3  Chunks are durable before the row that names them is written.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import { limits } from '../../../shared/limits.ts';
import { type Context, formOf, open, overheadBytes, seal, Unauthentic } from '../../crypto/envelope.ts';
import type { ChunkRow } from '../rows.ts';

/** How the plaintext of a sealed piece is to be read. */
const forms = { raw: 0, zstd: 1, manifest: 2 } as const;

const compressOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
/** Below it (de)compression takes less time than a thread of the pool would need to begin. */
const inlineCompressBytesMax = 64 * 1024;

export interface SealedField {
  /** For the row. */
  readonly sealed: Buffer;
  readonly chunks: readonly ChunkRow[];
}

interface Manifest {
  readonly blob: string;
  readonly chunks: number;
  readonly form: number;
}

export interface FieldPlace {
  readonly runId: string;
  readonly context: Context;
}

export async function sealField(
  key: Uint8Array,
  place: FieldPlace,
  plain: Buffer,
  inlineBytesMax: number,
  atMs: number,
): Promise<SealedField> {
  assert(plain.length <= limits.storeFieldBytesMax, 'what is stored can be opened');
  const small = await compressed(plain);
  const form = small === undefined ? forms.raw : forms.zstd;
  const content = small ?? plain;
  if (content.length + overheadBytes <= inlineBytesMax) {
    return { sealed: seal(key, place.context, form, content), chunks: [] };
  }
  const chunkPlainBytes = limits.storeChunkBytesMax - overheadBytes;
  const manifest: Manifest = {
    blob: randomBytes(16).toString('hex'),
    chunks: Math.ceil(content.length / chunkPlainBytes),
    form,
  };
  const chunks = Array.from({ length: manifest.chunks }, (_, index) => ({
    runId: place.runId,
    blob: manifest.blob,
    index,
    atMs,
    body: seal(
      key,
      chunkContext(place, manifest, index),
      forms.raw,
      content.subarray(index * chunkPlainBytes, (index + 1) * chunkPlainBytes),
    ),
  }));
  const sealed = seal(key, place.context, forms.manifest, Buffer.from(JSON.stringify(manifest)));
  return { sealed, chunks };
}

/**
 * `readChunks` gives the chunks of a blob in order. Throws Unauthentic. What is small is there at once: a journal
 * has thousands of pieces, and a promise for each would cost as much as opening them. What would become more than
 * `bytesMax` is a RangeError: who has the key may still lie.
 */
export function openField(
  key: Uint8Array,
  place: FieldPlace,
  sealed: Uint8Array,
  readChunks: ReadChunks,
  bytesMax: number = limits.storeFieldBytesMax,
): Buffer | Promise<Buffer> {
  const content = open(key, place.context, sealed);
  const form = formOf(sealed);
  return form === forms.manifest
    ? openChunks(key, place, JSON.parse(content.toString('utf8')) as Manifest, readChunks, bytesMax)
    : expanded(content, form, bytesMax);
}

type ReadChunks = (blob: string, count: number) => Promise<readonly ChunkRow[]>;

async function openChunks(
  key: Uint8Array,
  place: FieldPlace,
  manifest: Manifest,
  readChunks: ReadChunks,
  bytesMax: number,
): Promise<Buffer> {
  const chunks = await readChunks(manifest.blob, manifest.chunks);
  if (chunks.length !== manifest.chunks) {
    throw new Unauthentic(`${manifest.chunks} chunks were written and ${chunks.length} are there`);
  }
  const parts = chunks.map((chunk, index) => open(key, chunkContext(place, manifest, index), chunk.body));
  return expanded(Buffer.concat(parts), manifest.form, bytesMax);
}

function chunkContext(place: FieldPlace, manifest: Manifest, index: number): Context {
  return ['chunk', place.runId, manifest.blob, index, manifest.chunks];
}

/** Undefined: not worth it. */
async function compressed(plain: Buffer): Promise<Buffer | undefined> {
  if (plain.length < limits.storeCompressBytesMin) {
    return undefined;
  }
  const small =
    plain.length <= inlineCompressBytesMax
      ? zstdCompressSync(plain, compressOptions)
      : await compress(plain, compressOptions);
  return small.length < plain.length ? small : undefined;
}

/** A few bytes may become as many as anyone likes: throws RangeError past `maxOutputLength`. */
function expanded(content: Buffer, form: number, maxOutputLength: number): Buffer | Promise<Buffer> {
  if (form === forms.raw) {
    return content;
  }
  if (form !== forms.zstd) {
    throw new Unauthentic(`form ${form} is not known here`);
  }
  return content.length <= inlineCompressBytesMax
    ? zstdDecompressSync(content, { maxOutputLength })
    : decompress(content, { maxOutputLength });
}
