/**
 * CodeRunService, listening: gRPC on one port, HTTP on the other.
 *
 * V1  It listens whether its store answers or not: until then it is alive, not ready, and takes no run.
 * V2  Stopping first lets nothing new start, then lets attempts end or hands them on, then closes the ports,
 *     then the store: no attempt loses a write to a store that is closed already.
 */
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { parseAddress } from '../shared/address.ts';
import { mountConnect } from '../shared/grpc/connect.ts';
import { Health } from '../shared/grpc/health.ts';
import { mountService } from '../shared/grpc/mount.ts';
import { addReflection } from '../shared/grpc/reflection.ts';
import { createServer, listen, shutDown } from '../shared/grpc/server.ts';
import { httpLimits } from '../shared/limits.ts';
import { listenProblem } from '../shared/listen-problem.ts';
import type { Log } from '../shared/log.ts';
import { serverCredentials } from '../shared/tls.ts';
import { codeRunService } from './api/code-run-service.ts';
import { createHttp } from './api/http/server.ts';
import { settingsService } from './api/settings-service.ts';
import { type CodeRunConfig, codeRunTable, httpOff } from './config.ts';
import { type Context, createContext } from './context.ts';
import { Watch } from './watch.ts';

export interface RunningCodeRun {
  /** With the ports that were taken. */
  readonly grpcAddress: string;
  /** Undefined: HTTP is off. */
  readonly httpAddress: string | undefined;
  readonly context: Context;
  /** Rejects when it is seen, while it listens, that the store can never be used. Never resolves. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

/** What is left to streams that are over but not read to their end. */
const closeGraceMs = 1000;

export async function startCodeRun(config: CodeRunConfig, log: Log): Promise<RunningCodeRun> {
  const context = await createContext(config, log);
  const { deps, identify, localOnly, runner, settings, store, opening, sandbox } = context;
  const { sweeper, retention, metrics, certificates } = context;
  const codeRuns = codeRunService(deps);
  const platform = settingsService(settings);
  const edgeLog = log.child({ component: 'api' });
  const edge = { log: edgeLog, identify, observe: (path: string) => metrics.request(path) };

  const grpc = createServer();
  mountService(grpc, CodeRunService, codeRuns, edge);
  mountService(grpc, SettingsService, platform, edge);
  addReflection(grpc, [CodeRunService, SettingsService]);
  const health = new Health([CodeRunService, SettingsService]);
  health.addToServer(grpc);

  const watch = new Watch({ store, sandbox, health, metrics, log: log.child({ component: 'watch' }) });
  const http = createHttp({
    reading: deps.reading,
    settings,
    identify,
    metrics,
    ready: () => watch.seen,
    log: edgeLog,
    certificates,
    localOnly,
    bounds: httpLimits,
    mount: (router) => {
      mountConnect(router, CodeRunService, codeRuns, edge);
      mountConnect(router, SettingsService, platform, edge);
    },
  });

  const stop = async () => {
    watch.stop();
    await runner.drain(config.drainMs);
    await Promise.all([sweeper.stop(), retention.stop()]);
    await Promise.all([shutDown(grpc, closeGraceMs), closeHttp(http)]);
    await context.close();
  };
  try {
    const credentials = serverCredentials(certificates);
    const grpcAddress = await listen(grpc, config.grpcAddress, credentials, codeRunTable.grpcAddress.name);
    const httpAddress = await listenHttp(http, config.httpAddress);
    await watch.start();
    const working = opening.opened.then(() => {
      sweeper.start();
      retention.start();
      return new Promise<never>(() => {});
    });
    working.catch(() => {}); // Whoever waits hears of it; nobody has to.
    return { grpcAddress, httpAddress, context, failed: working, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Answers what has arrived; a reader that does not take its answer in time loses it. */
async function closeHttp(http: Http): Promise<void> {
  const timer = setTimeout(() => http.server.closeAllConnections(), closeGraceMs);
  await http.close();
  clearTimeout(timer);
}

type Http = ReturnType<typeof createHttp>;

/** Serves HTTP, unless it is off. */
async function listenHttp(http: Http, address: string): Promise<string | undefined> {
  if (address === httpOff) return undefined;
  const parsed = parseAddress(address);
  if (parsed.kind === 'unix') throw new Error(`cannot serve HTTP on ${address}`);
  await http.listen({ host: parsed.host, port: parsed.port }).catch((cause: Error) => {
    throw listenProblem(address, codeRunTable.httpAddress.name, cause);
  });
  const bound = http.server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : parsed.port;
  return address.replace(/:\d+$/, `:${port}`);
}
