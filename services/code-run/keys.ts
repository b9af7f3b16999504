/** The key ring of the configuration. */
import { readFile } from 'node:fs/promises';
import { ConfigError } from '../shared/config.ts';
import type { Log } from '../shared/log.ts';
import type { CodeRunConfig } from './config.ts';
import type { KeyKeeper } from './crypto/keys.ts';
import { LocalKeeper } from './crypto/local-keeper.ts';
import { KeyTextInvalid, parseLocalKeys, readOrCreateKeyFile } from './crypto/local-keys.ts';

export async function openKeys(config: CodeRunConfig, log: Log): Promise<KeyKeeper> {
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
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`CODE_RUN_KEYS_FILE cannot be used, and CODE_RUN_KEYS is not set: ${reason}`]);
  }
}
