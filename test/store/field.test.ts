/** What a sealed piece may become when it is opened. */
import { randomBytes } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { seal } from '../../services/code-run/crypto/envelope.ts';
import { openField, sealField } from '../../services/code-run/store/codec/field.ts';
import type { ChunkRow } from '../../services/code-run/store/rows.ts';

const key = randomBytes(32);
const place = { runId: 'run', context: ['end', 'run'] };
const zstd = 1;
const bytesMax = 1024 * 1024;

describe('a piece that was compressed', () => {
  /** The second is opened beside this thread. */
  test.each([
    ['in a few bytes', (bytes: number) => Buffer.alloc(bytes)],
    ['in many', (bytes: number) => Buffer.concat([randomBytes(80_000), Buffer.alloc(bytes - 80_000)])],
  ])('%s becomes as much as is allowed, and no byte more', async (_, content) => {
    const opened = async (bytes: number) => {
      const sealed = seal(key, place.context, zstd, zstdCompressSync(content(bytes)));
      return await openField(key, place, sealed, async () => [], bytesMax);
    };
    expect((await opened(bytesMax)).length).toBe(bytesMax);
    await expect(opened(bytesMax + 1)).rejects.toBeInstanceOf(RangeError);
    await expect(opened(100 * bytesMax)).rejects.toBeInstanceOf(RangeError);
  });

  test('in chunks becomes as much as is allowed, and no byte more', async () => {
    const opened = async (bytes: number) => {
      const stored: ChunkRow[] = [];
      const { sealed, chunks } = await sealField(key, place, Buffer.alloc(bytes), 40, 0);
      stored.push(...chunks);
      expect(stored).toHaveLength(1);
      return await openField(key, place, sealed, async () => stored, bytesMax);
    };
    expect((await opened(bytesMax)).length).toBe(bytesMax);
    await expect(opened(bytesMax + 1)).rejects.toBeInstanceOf(RangeError);
  });
});
