/** Puts CodeRunService together. Every part gets what it needs here; nothing else knows all of them. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createAuthenticator } from '../shared/auth/authenticator.ts';
import { identityOf } from '../shared/auth/identity-config.ts';
import { ConfigError } from '../shared/config.ts';
import type { Log } from '../shared/log.ts';
import { type Certificates, clientCredentials } from '../shared/tls.ts';
import { clientNames, openClientCertificates, openServerCertificates } from '../shared/tls-config.ts';
import { catalogTools } from './api/catalog-tools.ts';
import { Catalogs } from './api/catalogs.ts';
import type { CodeRunDeps } from './api/code-run-service.ts';
import { identifyWithin } from './api/rate.ts';
import { Reading } from './api/reading.ts';
import { Settings } from './api/settings.ts';
import type { CodeRunConfig } from './config.ts';
import { openKeys } from './keys.ts';
import { systemClock } from './runner/clock.ts';
import { Runner } from './runner/runner.ts';
import { SandboxClient, sandboxClientDefaults } from './runner/sandbox-client.ts';
import { type RunnerSettings, runnerDefaults } from './runner/settings.ts';
import { Sweeper } from './runner/sweeper.ts';
import type { CodeRunStore, KeyRotation } from './store/contract.ts';
import { openStore, StoreUrlInvalid } from './store/open.ts';

export interface Context {
  readonly store: CodeRunStore & KeyRotation;
  readonly runner: Runner;
  readonly sweeper: Sweeper;
  readonly settings: Settings;
  /** What the servers show; undefined: no TLS. */
  readonly certificates: Certificates | undefined;
  /** What the edges need. */
  readonly deps: CodeRunDeps;
  close(): Promise<void>;
}

export async function createContext(config: CodeRunConfig, log: Log): Promise<Context> {
  const store = await openConfiguredStore(config, log);
  const certificates = openServerCertificates('CODE_RUN_', config, log);
  const sandboxCertificates = openClientCertificates('CODE_RUN_SANDBOX_', config, log);
  const sandbox = new SandboxClient(
    { address: config.sandboxAddress, ...sandboxClientDefaults },
    clientCredentials(sandboxCertificates),
  );
  const runnerSettings: RunnerSettings = {
    ...runnerDefaults,
    instance: config.instance ?? `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
    abandonedAfterMs: config.abandonedAfterMs,
    // 50 ms, 200 ms … 13 s: long enough for a sandbox that starts again.
    sandboxTriesMax: 6,
    sweepMs: Math.min(runnerDefaults.sweepMs, config.abandonedAfterMs),
  };
  const runner = new Runner({
    store,
    sandbox,
    clock: systemClock,
    settings: runnerSettings,
    log: log.child({ component: 'runner' }),
  });
  const sweeper = new Sweeper({
    store,
    clock: systemClock,
    settings: runnerSettings,
    log: log.child({ component: 'sweeper' }),
  });
  const settings = new Settings(store, () => performance.now());
  const clients = config.tlsClientCaFile === undefined ? undefined : { names: clientNames(config) };
  const authenticator = createAuthenticator(identityOf(config, clients));
  const deps: CodeRunDeps = {
    runner,
    store,
    settings,
    reading: new Reading(store),
    catalogs: new Catalogs(catalogTools),
    identify: identifyWithin(authenticator, config.requestsPerSecond),
  };
  return {
    store,
    runner,
    sweeper,
    settings,
    certificates,
    deps,
    async close() {
      sandbox.close();
      certificates?.close();
      sandboxCertificates?.close();
      await store.close();
    },
  };
}

export async function openConfiguredStore(
  config: CodeRunConfig,
  log: Log,
): Promise<CodeRunStore & KeyRotation> {
  const keys = await openKeys(config, log);
  try {
    return await openStore({
      url: config.store,
      keys,
      onUnreadable: (run, message) =>
        log.error({ component: 'store', run, reason: message }, 'run is unreadable'),
    });
  } catch (error) {
    if (error instanceof StoreUrlInvalid) throw new ConfigError([`CODE_RUN_STORE ${error.message}`]);
    throw error;
  }
}
