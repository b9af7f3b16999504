/** Puts CodeRunService together. Every part gets what it needs here; nothing else knows all of them. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createAuthenticator } from '../shared/auth/authenticator.ts';
import { identityOf } from '../shared/auth/identity-config.ts';
import type { Log } from '../shared/log.ts';
import { type Certificates, clientCredentials } from '../shared/tls.ts';
import { clientNames, openClientCertificates, openServerCertificates } from '../shared/tls-config.ts';
import { Catalogs } from './api/catalogs.ts';
import type { CodeRunDeps } from './api/code-run-service.ts';
import type { Identify } from './api/identify.ts';
import { identifyWithin } from './api/rate.ts';
import { Reading } from './api/reading.ts';
import { Settings } from './api/settings.ts';
import type { CodeRunConfig } from './config.ts';
import { openConfiguredStoreInTime } from './configured-store.ts';
import { Metrics } from './metrics.ts';
import { ProgramChecker } from './program/check.ts';
import { Retention } from './retention.ts';
import { systemClock } from './runner/clock.ts';
import { Runner } from './runner/runner.ts';
import { SandboxClient, sandboxClientDefaults } from './runner/sandbox-client.ts';
import { type RunnerSettings, runnerDefaults } from './runner/settings.ts';
import { Sweeper } from './runner/sweeper.ts';
import type { CodeRunStore, KeyRotation } from './store/contract.ts';
import type { OpeningStore } from './store/opening.ts';

export interface Context {
  /** Away until `opening` has opened it. */
  readonly store: CodeRunStore & KeyRotation;
  readonly opening: OpeningStore;
  readonly runner: Runner;
  readonly sandbox: SandboxClient;
  readonly sweeper: Sweeper;
  readonly retention: Retention;
  readonly metrics: Metrics;
  readonly settings: Settings;
  /** What the servers show; undefined: no TLS. */
  readonly certificates: Certificates | undefined;
  /** Who calls, the same on every edge. */
  readonly identify: Identify;
  /** There is no identity: whoever reaches a port may do everything. */
  readonly localOnly: boolean;
  /** What the edges need. */
  readonly deps: CodeRunDeps;
  close(): Promise<void>;
}

export async function createContext(config: CodeRunConfig, log: Log): Promise<Context> {
  const { store, opening } = await openConfiguredStoreInTime(config, log);
  const certificates = openServerCertificates('CODE_RUN_', config, log);
  const sandboxCertificates = openClientCertificates('CODE_RUN_SANDBOX_', config, log);
  const sandbox = new SandboxClient(
    { address: config.sandboxAddress, tlsName: config.sandboxTlsName, ...sandboxClientDefaults },
    clientCredentials(sandboxCertificates),
  );
  const runnerSettings: RunnerSettings = {
    ...runnerDefaults,
    instance: config.instance ?? `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
    abandonedAfterMs: config.abandonedAfterMs,
    heldBytesMax: config.heldBytesMax,
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
  const identity = identityOf(config, clients, log.child({ component: 'identity' }));
  const authenticator = createAuthenticator(identity);
  const metrics = new Metrics();
  metrics.watchHeldBytes(runner);
  const deps: CodeRunDeps = {
    metrics,
    runner,
    store,
    settings,
    callLimits: {
      callsMax: config.callsMax,
      callsInFlightMax: config.callsInFlightMax,
      argumentsBytesMax: config.argumentsBytesMax,
      resultBytesMax: config.resultBytesMax,
    },
    reading: new Reading(store),
    catalogs: new Catalogs(),
    checker: new ProgramChecker(),
  };
  return {
    store,
    opening,
    runner,
    sandbox,
    sweeper,
    retention: new Retention({
      store,
      clock: systemClock,
      retentionDays: config.retentionDays,
      log: log.child({ component: 'retention' }),
    }),
    metrics,
    settings,
    certificates,
    identify: identifyWithin(authenticator, config.requestsPerSecond),
    localOnly: identity.kind === 'loopback',
    deps,
    async close() {
      sandbox.close();
      certificates?.close();
      sandboxCertificates?.close();
      await opening.close();
    },
  };
}
