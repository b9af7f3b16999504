import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCodeRunConfig } from '../../services/code-run/config.ts';
import { openKeys } from '../../services/code-run/keys.ts';
import { silentLog as log } from '../../services/shared/log.ts';
import { Bao, baoAvailable } from '../support/bao.ts';

describe.runIf(baoAvailable('transit keys of the configuration'))('keys of the configuration', () => {
  let bao: Bao;
  let folder: string;

  beforeAll(async () => {
    bao = await Bao.start();
    await bao.ask('POST', 'sys/mounts/transit', { type: 'transit' });
    await bao.ask('POST', 'transit/keys/runs', {});
    folder = await mkdtemp(join(tmpdir(), 'code-mode-transit-'));
  });
  afterAll(async () => {
    await bao?.stop();
    await rm(folder, { recursive: true });
  });

  function configured(environment: Record<string, string>) {
    const keysFile = join(folder, 'keys');
    return readCodeRunConfig({ environment: { CODE_RUN_KEYS_FILE: keysFile, ...environment } });
  }

  test('wrap with the transit engine, and local keys go on reading', async () => {
    const local = await openKeys(configured({}), log);
    const old = await local.wrap(Buffer.alloc(32, 1), 'run-1');
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, `${bao.token}\n`);
    const transit = {
      CODE_RUN_TRANSIT_URL: bao.address,
      CODE_RUN_TRANSIT_KEY: 'runs',
      CODE_RUN_TRANSIT_TOKEN_FILE: tokenFile,
    };
    const keys = await openKeys(configured(transit), log);
    const wrapped = await keys.wrap(Buffer.alloc(32, 2), 'run-1');
    expect(wrapped.keyId).toBe('transit/transit/runs:v1');
    expect(Buffer.from(await keys.unwrap(wrapped, 'run-1'))).toStrictEqual(Buffer.alloc(32, 2));
    expect(Buffer.from(await keys.unwrap(old, 'run-1'))).toStrictEqual(Buffer.alloc(32, 1));
  });

  test('name what is missing beside the URL', () => {
    expect(() => configured({ CODE_RUN_TRANSIT_URL: bao.address })).toThrow(
      /CODE_RUN_TRANSIT_KEY is needed with CODE_RUN_TRANSIT_URL[\s\S]*CODE_RUN_TRANSIT_TOKEN_FILE is needed/,
    );
  });
});
