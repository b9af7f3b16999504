/** SandboxService, listening. */
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
import { type SandboxConfig, sandboxTable } from './config.ts';
import { createContext } from './context.ts';
import { execute } from './grpc/execute.ts';
import { getStatus } from './grpc/status.ts';
import { layerNames, missing } from './jail/layers.ts';
import type { Pool } from './pool/pool.ts';

export interface RunningSandbox {
  /** The address with the port that was taken. */
  readonly address: string;
  /** Whether every required layer of the lock holds. */
  readonly locked: boolean;
  /** Names of the required layers that do not hold. */
  readonly missing: readonly string[];
  /** Lets running programs end for `drainMs`, then stops everything. */
  stop(): Promise<void>;
}

/** What is left to streams that are over but not read to their end. */
const closeGraceMs = 1000;

export async function startSandbox(config: SandboxConfig, log: Log): Promise<RunningSandbox> {
  const certificates = openServerCertificates('SANDBOX_', config, log);
  const context = await createContext(config, log);
  const { pool, layers, locked, versions, metrics } = context;
  const callers = createAuthenticator(
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
      execute: (requests, call) => execute(context.execute, requests, call),
      getStatus: async () => getStatus(layers, locked, pool.counts(), versions),
    },
    plainEdge(log.child({ component: 'grpc' }), (sender) => callers.authenticate(sender)),
  );
  health.addToServer(server);
  addReflection(server, [SandboxService]);
  try {
    const metricsServer = config.metricsAddress && (await metrics.serve(config.metricsAddress));
    const address = await listen(
      server,
      config.listen,
      serverCredentials(certificates),
      sandboxTable.listen.name,
    );
    health.setAll(true);
    for (const { name, state } of layers) health.set(`lock.${name}`, state === 'held');
    pool.watch((able) => {
      for (const service of ['', SandboxService.typeName]) health.set(service, able);
    });
    const stop = async () => {
      await shutDownAll(server, health, pool, config.drainMs);
      if (metricsServer) metricsServer.close();
      certificates?.close();
    };
    return { address, locked, missing: missing(layers).map(({ name }) => name), stop };
  } catch (error) {
    await pool.close(); // An address that is taken must leave no process behind.
    throw error;
  }
}

async function shutDownAll(server: Server, health: Health, pool: Pool, drainMs: number): Promise<void> {
  health.setAll(false);
  await pool.drain(drainMs);
  await pool.close();
  await shutDown(server, closeGraceMs);
}
