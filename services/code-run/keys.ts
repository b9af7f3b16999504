/** The key ring of the configuration: local keys, or a transit engine with local keys behind it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ConfigError } from '../shared/config.ts';
import { fileProblem } from '../shared/file-problem.ts';
import type { Log } from '../shared/log.ts';
import type { CodeRunConfig } from './config.ts';
import { KeyRing } from './crypto/key-ring.ts';
import { type KeyKeeper, KeyServiceUnavailable } from './crypto/keys.ts';
import { LocalKeeper } from './crypto/local-keeper.ts';
import { KeyTextInvalid, parseLocalKeys, readOrCreateKeyFile } from './crypto/local-keys.ts';
import { TransitKeeper } from './crypto/transit-keeper.ts';

/** One answer of the transit engine. */
const transitTimeoutMs = 5_000;

export async function openKeys(config: CodeRunConfig, log: Log): Promise<KeyKeeper> {
  const transit = transitOf(config);
  if (transit === undefined) return openLocalKeys(config, log);
  await warnIfAway(transit, log);
  const hasLocal = config.keys !== undefined || existsSync(config.keysFile);
  return hasLocal ? new KeyRing([transit, await openLocalKeys(config, log)]) : transit;
}

function transitOf(config: CodeRunConfig): TransitKeeper | undefined {
  const {
    transitUrl: address,
    transitKey: key,
    transitTokenFile: file,
    transitNamespace: namespace,
  } = config;
  if (address === undefined || key === undefined || file === undefined) return undefined;
  return new TransitKeeper({
    address,
    key,
    mount: config.transitMount,
    token: async () => (await readFile(file, 'utf8')).trim(),
    timeoutMs: transitTimeoutMs,
    ...(namespace !== undefined && { namespace }),
  });
}

/** The service starts all the same: the server may come later, and until then runs are Unavailable. */
async function warnIfAway(transit: TransitKeeper, log: Log): Promise<void> {
  try {
    await transit.activeKeyId();
  } catch (error) {
    if (!(error instanceof KeyServiceUnavailable)) throw error;
    log.error(
      { component: 'keys', reason: error.message },
      'the transit engine cannot be used: no run can start',
    );
  }
}

async function openLocalKeys(config: CodeRunConfig, log: Log): Promise<KeyKeeper> {
  try {
    if (config.keys !== undefined) return new LocalKeeper(parseLocalKeys(config.keys, 'CODE_RUN_KEYS'));
    // A key that each of several instances made for itself could not be read by the others.
    if (!config.store.startsWith('sqlite:')) {
      return new LocalKeeper(parseLocalKeys(await readFile(config.keysFile, 'utf8'), config.keysFile));
    }
    const { keys, created } = await readOrCreateKeyFile(config.keysFile);
    if (created) log.warn({ file: config.keysFile }, 'made a new key: without this file no run can be read');
    return new LocalKeeper(keys);
  } catch (error) {
    if (error instanceof KeyTextInvalid) throw new ConfigError([error.message]);
    const file = `CODE_RUN_KEYS_FILE ${config.keysFile}`;
    throw new ConfigError([`${file} cannot be used, and CODE_RUN_KEYS is not set: ${fileProblem(error)}`]);
  }
}
