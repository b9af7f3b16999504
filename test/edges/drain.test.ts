/** From SIGTERM on a service says that it serves nothing new, while what runs goes on to its end. */
import { credentials } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { CodeRunStatus } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { startEmbeddedProcess } from '../e2e/embedded.ts';
import { until } from '../e2e/proc.ts';
import { jobOf, completed as sandboxCompleted, stepsOf } from '../sandbox/kit.ts';
import { completed, type Outcome, play, start } from './core.ts';
import { healthOf, Status } from './health.ts';
import { Folder, Service } from './processes.ts';

test('CodeRunService is not ready while it drains, and ends the runs that it has', async () => {
  const embedded = await startEmbeddedProcess({ CODE_RUN_DRAIN_MS: '60000' });
  const health = healthOf(embedded.grpcAddress);
  try {
    const called = Promise.withResolvers<void>();
    const outcome = Promise.withResolvers<Outcome>();
    const running = play(embedded.core, start('return await apps.notes.send({})'), () => {
      called.resolve();
      return outcome.promise;
    });
    await called.promise;
    expect((await fetch(`${embedded.httpUrl}/readyz`)).status).toBe(200);
    embedded.service.kill('SIGTERM');
    await until(async () => (await fetch(`${embedded.httpUrl}/readyz`)).status === 503);
    expect(await (await fetch(`${embedded.httpUrl}/readyz`)).json()).toMatchObject({
      store: true,
      sandbox: true,
      draining: true,
    });
    expect((await fetch(`${embedded.httpUrl}/livez`)).status).toBe(200);
    for (const service of ['', CodeRunService.typeName, SettingsService.typeName]) {
      expect(await health.status(service)).toBe(Status.NOT_SERVING);
    }
    await expect(play(embedded.core, start('return 1'), () => undefined)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect((await embedded.core.listCodeRuns({ session: 's-1' })).runs).toHaveLength(1);
    outcome.resolve(completed('sent'));
    expect((await running).last).toMatchObject({
      case: 'finished',
      value: { run: { status: CodeRunStatus.COMPLETED } },
    });
    expect(await embedded.service.ended()).toEqual({ code: 0, signal: null });
  } finally {
    health.close();
    await embedded.stop();
  }
});

test('SandboxService serves nothing new while it drains, and ends the programs that it has', async () => {
  const folder = new Folder();
  const address = `unix:${folder.path}/sandbox.sock`;
  const sandbox = new Service('services/sandbox/main.ts', {
    SANDBOX_LISTEN: address,
    SANDBOX_LOCK: 'development',
    SANDBOX_DRAIN_MS: '60000',
  });
  await sandbox.ready();
  const health = healthOf(address);
  const channel = openChannel(address, credentials.createInsecure());
  try {
    const client = createClient(SandboxService, channel);
    const call = client.execute();
    await call.send({ message: { case: 'job', value: jobOf('return await apps.notes.read({})') } });
    const responses = call.responses[Symbol.asyncIterator]();
    let calls = 0;
    while (calls === 0) {
      const { value } = await responses.next();
      calls = stepsOf(value.message).reduce((count, step) => count + step.calls.length, 0);
    }
    expect(await health.status(SandboxService.typeName)).toBe(Status.SERVING);
    sandbox.kill('SIGTERM');
    await until(async () => (await health.status('')) === Status.NOT_SERVING);
    expect(await health.status(SandboxService.typeName)).toBe(Status.NOT_SERVING);
    const late = client.execute();
    await late.send({ message: { case: 'job', value: jobOf('return 1') } });
    await expect(Array.fromAsync(late.responses)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const outcome = { index: 0, outcome: sandboxCompleted('read') };
    await call.send({ message: { case: 'outcome', value: outcome } });
    const { value } = await responses.next();
    expect(value.message).toMatchObject({ case: 'end', value: { valueJson: Buffer.from('"read"') } });
    await responses.next();
    expect(await sandbox.ended()).toEqual({ code: 0, signal: null });
  } finally {
    health.close();
    channel.close();
    await sandbox.stop();
    folder.remove();
  }
});
