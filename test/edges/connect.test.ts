/** The HTTP port as clients of Connect and gRPC-Web see it. */
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CodeRunStatus } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { play, start } from './core.ts';
import { type Services, startServices } from './services.ts';

let services: Services;
let runId: string;
beforeAll(async () => {
  services = await startServices();
  await services.enable();
  const { last } = await play(services.core, start('return 1'), () => undefined);
  runId = last.case === 'finished' ? (last.value.run?.id ?? '') : '';
});
afterAll(() => services.stop());

describe.each([
  ['Connect', createConnectTransport],
  ['gRPC-Web', createGrpcWebTransport],
])('a client of %s', (_name, transportOf) => {
  const transport = () => transportOf({ baseUrl: services.httpUrl, httpVersion: '1.1' });

  test('reads a run as gRPC gives it', async () => {
    const { run } = await createClient(CodeRunService, transport()).getCodeRun({ runId });
    expect(run).toEqual((await services.core.getCodeRun({ runId })).run);
    expect(run?.status).toBe(CodeRunStatus.COMPLETED);
  });

  test('gets the error of gRPC, with its details', async () => {
    const error = await createClient(CodeRunService, transport())
      .listCodeRuns({ session: '', pageSize: 999 })
      .catch((reason) => reason);
    expect(error).toBeInstanceOf(ConnectError);
    expect([error.code, error.rawMessage]).toEqual([Code.InvalidArgument, 'session: must not be empty']);
    expect(error.details).toHaveLength(1);
  });

  test('changes the settings', async () => {
    const client = createClient(SettingsService, transport());
    const { settings } = await client.getSettings({});
    const expectedVersion = settings?.version ?? 0n;
    const memoryMb = (settings?.codeMode?.memoryMb ?? 0) + 1;
    const change = { codeMode: { memoryMb }, updateMask: { paths: ['memory_mb'] } };
    const changed = await client.updateSettings({ expectedVersion, ...change });
    expect(changed.settings).toMatchObject({
      version: expectedVersion + 1n,
      codeMode: { enabled: true, memoryMb },
    });
    const again = await client.updateSettings({ expectedVersion: expectedVersion + 1n, ...change });
    expect(again.settings).toEqual(changed.settings);
  });
});

test('RunCode, which needs both directions at once, is refused over HTTP/1.1 with a clear answer', async () => {
  const response = await fetch(`${services.httpUrl}/openbot.codemode.v1.CodeRunService/RunCode`, {
    method: 'POST',
    headers: { 'content-type': 'application/connect+json' },
    body: '',
  });
  await response.arrayBuffer();
  expect(response.status).toBe(505);
});
