/** The parts of the sandbox that are not its edge, put together: children, pool, versions, metrics. */
import type { Log } from '../shared/log.ts';
import { makeChildren } from './children.ts';
import type { SandboxConfig } from './config.ts';
import type { ExecuteDeps } from './grpc/execute.ts';
import { buildRealmText } from './isolate/realm-text.ts';
import type { LayerReport } from './jail/layers.ts';
import { SandboxMetrics } from './metrics.ts';
import { Pool } from './pool/pool.ts';
import { readVersions, type SandboxVersions } from './versions.ts';

export interface Context {
  readonly pool: Pool;
  readonly layers: readonly LayerReport[];
  /** Whether every required layer of the lock holds. */
  readonly locked: boolean;
  readonly versions: SandboxVersions;
  readonly execute: ExecuteDeps;
  readonly metrics: SandboxMetrics;
}

/** Throws where programs cannot be locked in, or no child can be made; then nothing is left. */
export async function createContext(config: SandboxConfig, log: Log): Promise<Context> {
  const realm = await buildRealmText();
  const children = await makeChildren(config, realm.text, log.child({ component: 'lock' }));
  const { source, layers, locked, forked } = children;
  const versions = readVersions(realm.hash, { forked, jit: config.jit });
  const { runningMax, queuedMax, readyTarget, firstMemoryMb, firstTimeoutMs } = config;
  const firstSetting = { memoryMb: firstMemoryMb, timeoutMs: firstTimeoutMs };
  const pool = new Pool(
    source,
    { runningMax, queuedMax, readyTarget, firstSetting, allowUnlocked: !locked },
    log.child({ component: 'pool' }),
  );
  try {
    await pool.warm();
  } catch (error) {
    await pool.close();
    throw error;
  }
  const metrics = new SandboxMetrics(
    () => pool.counts(),
    () => pool.failures(),
    layers,
  );
  const attempts = log.child({ component: 'attempt' });
  const execute: ExecuteDeps = {
    pool,
    backstop: { factor: config.backstopFactor, graceMs: config.backstopGraceMs },
    fingerprint: versions.fingerprint,
    ended(verdict, cpuMs) {
      metrics.ended(verdict, cpuMs);
      if (verdict === 'Violation')
        attempts.error({}, 'VIOLATION: a child broke the rules of its lock and was stopped');
    },
  };
  return { pool, layers, locked, versions, execute, metrics };
}
