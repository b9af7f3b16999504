/** What operators see: health, readiness, metrics, and settings that every instance follows. */
import { credentials } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { LockLayerState, SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { Settings } from '../../services/code-run/api/settings.ts';
import type { PlatformSettings } from '../../services/code-run/store/contract.ts';
import { initialSettings } from '../../services/code-run/store/settings.ts';
import { untilDone } from '../../services/shared/backoff.ts';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { until } from '../e2e/proc.ts';
import { completed, play, start, waiting } from './core.ts';
import { healthOf, Status } from './health.ts';
import { startServices } from './services.ts';

test('health and readiness follow the sandbox, each service for itself', async () => {
  const services = await startServices();
  const health = healthOf(services.grpcAddress);
  try {
    expect(await health.status('')).toBe(Status.SERVING);
    expect(await health.status(CodeRunService.typeName)).toBe(Status.SERVING);
    const ready = await fetch(`${services.httpUrl}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { store: true, sandbox: true, locked: expect.any(Boolean), draining: false, missing: [] },
    ]);
    await services.sandbox.stop();
    await until(async () => (await health.status(CodeRunService.typeName)) === Status.NOT_SERVING);
    expect(await health.status('')).toBe(Status.NOT_SERVING);
    expect(await health.status(SettingsService.typeName)).toBe(Status.SERVING);
    const unready = await fetch(`${services.httpUrl}/readyz`);
    expect([unready.status, await unready.json()]).toEqual([
      503,
      { store: true, sandbox: false, locked: false, draining: false, missing: ['sandbox'] },
    ]);
    expect((await fetch(`${services.httpUrl}/livez`)).status).toBe(200);
  } finally {
    health.close();
    await services.stop();
  }
});

test('health of the sandbox has every layer of its lock', async () => {
  const services = await startServices();
  const health = healthOf(services.sandbox.address);
  const channel = openChannel(services.sandbox.address, credentials.createInsecure());
  try {
    const { layers } = await createClient(SandboxService, channel).getStatus({});
    expect(layers.length).toBeGreaterThan(5);
    for (const { name, state } of layers) {
      const held = state === LockLayerState.HELD;
      const status = await health.status(`lock.${name}`);
      expect([name, status]).toEqual([name, held ? Status.SERVING : Status.NOT_SERVING]);
    }
    await expect(health.status('lock.nothing')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  } finally {
    channel.close();
    health.close();
    await services.stop();
  }
});

test('metrics count what happens, and say nothing of who or what', async () => {
  const services = await startServices();
  try {
    await services.enable();
    const secret = 'a-secret-of-the-program';
    const code = `console.log("${secret}"); return await apps.notes.send({ text: "${secret}" })`;
    await play(services.core, start(code, { session: secret, callId: secret }), () => completed(secret));
    await play(services.core, start(code, { session: secret, callId: `${secret}-2` }), () => waiting);
    await play(services.core, start('return 1 +'), () => undefined);
    await services.core.getCodeRun({ runId: secret }).catch(() => {});
    await fetch(`${services.httpUrl}/v1/code-runs/${secret}`);
    await fetch(`${services.httpUrl}/${secret}`);
    const response = await fetch(`${services.httpUrl}/metrics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    const value = (name: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')
          .at(-1),
      );
    expect(value('code_mode_attempt_ends_total{status="Completed",reason=""}')).toBe(1);
    expect(value('code_mode_attempt_ends_total{status="Waiting",reason=""}')).toBe(1);
    expect(value('code_mode_attempt_ends_total{status="Failed",reason="Error"}')).toBe(1);
    expect(value('code_mode_app_calls_total')).toBe(2);
    expect(value('code_mode_attempts_running')).toBe(0);
    expect(value('code_mode_up{part="store"}')).toBe(1);
    const path = '/openbot.codemode.v1.CodeRunService';
    expect(value(`code_mode_request_seconds_count{method="${path}/RunCode",code="OK"}`)).toBe(3);
    expect(value(`code_mode_request_seconds_count{method="${path}/GetCodeRun",code="NOT_FOUND"}`)).toBe(1);
    expect(value('code_mode_request_seconds_count{method="GET /v1/code-runs/:id",code="404"}')).toBe(1);
    expect(value('code_mode_request_seconds_count{method="GET no route",code="404"}')).toBe(1);
    expect(text).not.toContain(secret);
  } finally {
    await services.stop();
  }
});

test('metrics say how much runs hold, while they run, and how much they may', async () => {
  const services = await startServices({ CODE_RUN_HELD_BYTES_MAX: '300000000' });
  try {
    await services.enable();
    const held = async () => {
      const text = await (await fetch(`${services.httpUrl}/metrics`)).text();
      return text.split('\n').filter((line) => line.startsWith('code_mode_held_bytes'));
    };
    let during: readonly string[] = [];
    const answer = async () => {
      during = await held();
      return completed(1);
    };
    const played = await play(services.core, start('return await apps.notes.send({ n: 12 })'), answer);
    expect(played.last.case).toBe('finished');
    expect(during).toEqual(['code_mode_held_bytes 8', 'code_mode_held_bytes_max 300000000']);
    expect((await held())[0]).toBe('code_mode_held_bytes 0');
  } finally {
    await services.stop();
  }
});

test('every instance follows a change of the settings within a second, with one look for many starts', async () => {
  let stored: PlatformSettings = initialSettings;
  let looks = 0;
  const store = {
    settings: async () => {
      looks++;
      return stored;
    },
    replaceSettings: async (next: PlatformSettings) => {
      if (next.version !== stored.version + 1) return false;
      stored = next;
      return true;
    },
  };
  let nowMs = 0;
  const one = new Settings(store, () => nowMs);
  const two = new Settings(store, () => nowMs);
  expect((await two.current()).enabled).toBe(false);
  await one.update(0, { enabled: true }, (name) => name);
  expect((await one.current()).enabled).toBe(true);
  nowMs = 999;
  looks = 0;
  expect(
    (await Promise.all(Array.from({ length: 100 }, () => two.current()))).every(({ enabled }) => enabled),
  ).toBe(true);
  expect(looks).toBe(1);
  await expect(two.update(0, { enabled: false }, (name) => name)).rejects.toMatchObject({ code: 'ABORTED' });
  expect(stored.version).toBe(1);
});

test('what is not there yet is waited for, longer each time, and another error is not', async () => {
  let tries = 0;
  const delays: number[] = [];
  const work = async () => {
    tries++;
    if (tries < 4) throw new Error('not yet');
    if (tries < 5) throw new TypeError('never');
    return tries;
  };
  const passing = (error: unknown, delayMs: number) => {
    delays.push(delayMs);
    return !(error instanceof TypeError);
  };
  await expect(untilDone(work, passing, { random: () => 0 })).rejects.toThrow('never');
  expect(delays).toEqual([125, 250, 500, 1000]);
  expect(await untilDone(work, passing, { random: () => 0 })).toBe(5);
});
