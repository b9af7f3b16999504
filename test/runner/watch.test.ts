/** What the watch says of the store. */
import { expect, test } from 'vitest';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { Metrics } from '../../services/code-run/metrics.ts';
import { Watch } from '../../services/code-run/watch.ts';
import { Health } from '../../services/shared/grpc/health.ts';
import { type Log, silentLog } from '../../services/shared/log.ts';

test('a watch warns once that the store is away, and once that it is back', async () => {
  const warned: string[] = [];
  const log: Log = Object.assign(Object.create(silentLog), {
    warn: (_: unknown, message: string) => warned.push(message),
  });
  let away = false;
  const watch = new Watch({
    store: { ping: () => (away ? Promise.reject(new Error('away')) : Promise.resolve()) },
    sandbox: { status: () => Promise.reject(new Error('none')) },
    health: new Health([CodeRunService, SettingsService]),
    metrics: new Metrics(),
    log,
  });
  for (const next of [false, true, true, false, false]) {
    away = next;
    await watch.start();
  }
  watch.stop();
  expect(warned).toStrictEqual(['the store is away', 'the store is back']);
});
