/**
 * The store that the configuration names. What is wrong with it for good is a mistake of the configuration, in
 * one line that names the setting and never repeats its value: that may hold a password.
 */
import { ConfigError } from '../shared/config.ts';
import type { Log } from '../shared/log.ts';
import { type CodeRunConfig, codeRunTable } from './config.ts';
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
} from './store/open.ts';

type Store = CodeRunStore & KeyRotation;

const setting = codeRunTable.store.name;
/** How long a start waits for its store before it goes on without. */
const firstTryMs = 1_000;

/**
 * For a service: one that starts before its store listens all the same. Rejects if the store is seen at once to
 * be one that can never be used; later `opening` does.
 */
export async function openConfiguredStoreInTime(config: CodeRunConfig, log: Log): Promise<StoreInTime> {
  const options = optionsOf(config, log);
  const inTime = openStoreInTime({
    open: () => openSealed(options).catch(rethrow),
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
    throw away === undefined ? problemOf(error) : new ConfigError([`${setting} ${away.message}`]);
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

function rethrow(error: unknown): never {
  throw problemOf(error);
}

function problemOf(error: unknown): unknown {
  return error instanceof StoreUrlInvalid || error instanceof StoreUnusable
    ? new ConfigError([`${setting} ${error.message}`])
    : error;
}
