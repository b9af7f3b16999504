/** SandboxService, put together and listening. */
import type { Server } from '@grpc/grpc-js';
import { SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { createAuthenticator } from '../shared/auth/authenticator.ts';
import { plainEdge } from '../shared/grpc/handlers.ts';
import { Health } from '../shared/grpc/health.ts';
import { mountService } from '../shared/grpc/mount.ts';
import { addReflection } from '../shared/grpc/reflection.ts';
import { createServer, listen, shutDown } from '../shared/grpc/server.ts';
import type { Log } from '../shared/log.ts';
import { serverCredentials } from '../shared/tls.ts';
import { clientNames, openServerCertificates } from '../shared/tls-config.ts';
import { makeChildren } from './children.ts';
import type { SandboxConfig } from './config.ts';
import { type ExecuteDeps, execute } from './grpc/execute.ts';
import { getStatus } from './grpc/status.ts';
import { buildRealmText } from './isolate/realm-text.ts';
import { layerNames } from './jail/layers.ts';
import { SandboxMetrics } from './metrics.ts';
import { Pool } from './pool/pool.ts';
import { readVersions } from './versions.ts';

export interface RunningSandbox {
  /** The address with the port that was taken. */
  readonly address: string;
  /** Whether every required layer of the lock holds. */
  readonly locked: boolean;
  /** Lets running programs end for `drainMs`, then stops everything. */
  stop(): Promise<void>;
}

export async function startSandbox(config: SandboxConfig, log: Log): Promise<RunningSandbox> {
  const certificates = openServerCertificates('SANDBOX_', config, log);
  const realm = await buildRealmText();
  const children = await makeChildren(config, realm.text, log.child({ component: 'lock' }));
  const { source, layers, locked, forked } = children;
  const versions = readVersions(realm.hash, { forked, jit: config.jit });
  const pool = new Pool(
    source,
    {
      runningMax: config.runningMax,
      queuedMax: config.queuedMax,
      readyTarget: config.readyTarget,
      firstSetting: { memoryMb: config.firstMemoryMb, timeoutMs: config.firstTimeoutMs },
      allowUnlocked: !locked,
    },
    log.child({ component: 'pool' }),
  );
  await pool.warm();
  const backstop = { factor: config.backstopFactor, graceMs: config.backstopGraceMs };
  const metrics = new SandboxMetrics(() => pool.counts(), layers);
  const metricsServer = config.metricsAddress && (await metrics.serve(config.metricsAddress));
  const attempts = log.child({ component: 'attempt' });
  const ended: ExecuteDeps['ended'] = (verdict, cpuMs) => {
    metrics.ended(verdict, cpuMs);
    if (verdict === 'Violation')
      attempts.error({}, 'VIOLATION: a child broke the rules of its lock and was stopped');
  };
  const deps = { pool, backstop, fingerprint: versions.fingerprint, ended };
  const caller = createAuthenticator(
    config.tlsClientCaFile === undefined
      ? { kind: 'loopback' }
      : { kind: 'certificates', names: clientNames(config) },
  );
  const server = createServer();
  const health = new Health([SandboxService, ...layerNames.map((name) => ({ typeName: `lock.${name}` }))]);
  mountService(
    server,
    SandboxService,
    {
      async *execute(requests, context) {
        await caller.authenticate(context);
        yield* execute(deps, requests, context);
      },
      async getStatus(_request, context) {
        await caller.authenticate(context);
        return getStatus(layers, locked, pool.counts(), versions);
      },
    },
    plainEdge(log.child({ component: 'grpc' })),
  );
  health.addToServer(server);
  addReflection(server, [SandboxService]);
  const address = await listen(server, config.listen, serverCredentials(certificates));
  health.setAll(true);
  for (const { name, state } of layers) health.set(`lock.${name}`, state === 'held');
  return {
    address,
    locked,
    async stop() {
      await stop(server, health, pool, config.drainMs);
      if (metricsServer) metricsServer.close();
      certificates?.close();
    },
  };
}

async function stop(server: Server, health: Health, pool: Pool, drainMs: number): Promise<void> {
  health.setAll(false);
  await pool.drain(drainMs);
  await pool.close();
  await shutDown(server, 1000);
}
