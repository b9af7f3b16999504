/**
 * The store that the configuration names. What is wrong with it for good is a mistake of the configuration, in
 * one line that names the setting and never repeats its value: that may hold a password.
 */
import { ConfigError } from '../shared/config.ts';
import type { Log } from '../shared/log.ts';
import type { CodeRunConfig } from './config.ts';
import { makeDataFolder } from './data-folder.ts';
import { openKeys } from './keys.ts';
import { type CodeRunStore, type KeyRotation, StoreUnavailable } from './store/contract.ts';
import {
  openSealed,
  openStore,
  openStoreInTime,
  type StoreInTime,
  type StoreOptions,
  StoreUnusable,
  StoreUrlInvalid,
  sqlitePath,
} from './store/open.ts';

type Store = CodeRunStore & KeyRotation;

/** How long a start waits for its store before it goes on without. */
const firstTryMs = 2_000;

/**
 * For a service: one that starts before its store listens all the same. Rejects if the store is seen at once to
 * be one that can never be used; later `opening` does.
 */
export async function openConfiguredStoreInTime(config: CodeRunConfig, log: Log): Promise<StoreInTime> {
  const { storeSetting: setting } = config;
  makeFolders(config);
  const options = optionsOf(config, log);
  const inTime = openStoreInTime({
    open: () =>
      openSealed(options).catch((error: unknown) => {
        throw problemOf(error, setting);
      }),
    onAway: ({ message: reason }, againInMs) =>
      log.warn({ setting, reason, againInMs }, 'the store does not answer'),
  });
  const { promise: long, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, firstTryMs);
  try {
    await Promise.race([inTime.opening.tried, long]);
  } finally {
    clearTimeout(timer);
  }
  return inTime;
}

/** For a command, which cannot wait: a store that is away, at first or later, ends it. */
export async function withConfiguredStore(
  config: CodeRunConfig,
  log: Log,
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const { storeSetting: setting } = config;
  makeFolders(config);
  try {
    const store = await openStore(optionsOf(config, log));
    try {
      await work(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    const away = [error, error instanceof Error ? error.cause : undefined].find(
      (each) => each instanceof StoreUnavailable,
    );
    if (away === undefined) throw problemOf(error, setting);
    // The setting may be right: no ConfigError.
    throw new Error(`${setting} ${away.message}`, { cause: away });
  }
}

function optionsOf(config: CodeRunConfig, log: Log): StoreOptions {
  let keys: ReturnType<typeof openKeys> | undefined;
  return {
    url: config.store,
    // Once, however often the database is tried.
    openKeys: () => {
      keys ??= openKeys(config, log);
      return keys;
    },
    onUnreadable: (run, message) =>
      log.error({ component: 'store', run, reason: message }, 'run is unreadable'),
  };
}

/** Folders of the defaults, for what is made in them. */
function makeFolders({ store, storeSetting, keys, keysFile, makesKeyFile }: CodeRunConfig): void {
  makeDataFolder({
    [storeSetting]: sqlitePath(store),
    CODE_RUN_KEYS_FILE: makesKeyFile && keys === undefined ? keysFile : undefined,
  });
}

function problemOf(error: unknown, setting: string): unknown {
  return error instanceof StoreUrlInvalid || error instanceof StoreUnusable
    ? new ConfigError([`${setting} ${error.message}`])
    : error;
}
