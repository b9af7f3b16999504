/** The key ring of the configuration: local keys, or a transit engine with local keys behind it. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ConfigError } from '../shared/config.ts';
import { checkFile } from '../shared/file-check.ts';
import { fileProblem } from '../shared/file-problem.ts';
import type { Log } from '../shared/log.ts';
import type { CodeRunConfig } from './config.ts';
import { KeyRing } from './crypto/key-ring.ts';
import { type KeyKeeper, KeyServiceUnavailable } from './crypto/keys.ts';
import { LocalKeeper } from './crypto/local-keeper.ts';
import { KeyTextInvalid, parseLocalKeys, readOrCreateKeyFile } from './crypto/local-keys.ts';
import { TransitKeeper } from './crypto/transit-keeper.ts';
import { folderProblems } from './data-folder.ts';

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

async function openLocalKeys({ keys, keysFile, makesKeyFile }: CodeRunConfig, log: Log): Promise<KeyKeeper> {
  if (keys !== undefined) return new LocalKeeper(parseLocalKeys(keys));
  try {
    if (!makesKeyFile) return new LocalKeeper(parseLocalKeys(await readFile(keysFile, 'utf8'), keysFile));
    const read = await readOrCreateKeyFile(keysFile);
    if (read.created) log.warn({ file: keysFile }, 'made a new key: without this file no run can be read');
    return new LocalKeeper(read.keys);
  } catch (error) {
    throw new ConfigError([keysFileProblem(keysFile, error)]);
  }
}

/** What is wrong with the settings of local keys. A file that will be made needs its folder. */
export function localKeyProblems(config: CodeRunConfig): string[] {
  const { keys, keysFile, makesKeyFile, transitUrl } = config;
  if (keys !== undefined) return [];
  if (!existsSync(keysFile)) {
    if (transitUrl !== undefined) return [];
    if (makesKeyFile) return folderProblems('CODE_RUN_KEYS_FILE', keysFile);
  }
  const problem = checkFile(keysFile, { secret: true });
  if (problem !== undefined) return [keysFileProblem(keysFile, problem)];
  try {
    // What is no plain file (a pipe) can be read once, and that is for the start.
    if (statSync(keysFile).isFile()) parseLocalKeys(readFileSync(keysFile, 'utf8'), keysFile);
    return [];
  } catch (error) {
    return [keysFileProblem(keysFile, error)];
  }
}

function keysFileProblem(file: string, problem: unknown): string {
  if (problem instanceof KeyTextInvalid) return `CODE_RUN_KEYS_FILE ${problem.message}`;
  const why = fileProblem(problem);
  return `CODE_RUN_KEYS_FILE ${file} cannot be used, and CODE_RUN_KEYS is not set: ${why}`;
}
