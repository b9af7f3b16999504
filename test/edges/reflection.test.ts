/** Reflection and health as grpcurl sees them: no .proto file at hand. */
import { join } from 'node:path';
import { ServerCredentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { AppError } from '../../services/shared/errors.ts';
import type { EdgeServer } from '../../services/shared/grpc/edge-server.ts';
import { plainEdge } from '../../services/shared/grpc/handlers.ts';
import { Health } from '../../services/shared/grpc/health.ts';
import { mountService } from '../../services/shared/grpc/mount.ts';
import { addReflection } from '../../services/shared/grpc/reflection.ts';
import { createServer, listen, shutDown } from '../../services/shared/grpc/server.ts';
import { silentLog } from '../../services/shared/log.ts';
import { anyone } from './anyone.ts';
import { grpcurlAvailable, runGrpcurl } from './grpcurl.ts';

const services = [CodeRunService, SettingsService, SandboxService];
const health = new Health(services);
let server: EdgeServer;
let address: string;

beforeAll(async () => {
  server = createServer();
  const violations = [{ field: 'code_mode.timeout_ms', description: 'must be 100 to 600000' }];
  mountService(
    server,
    SettingsService,
    {
      getSettings: () => Promise.resolve({ settings: { version: 3n, codeMode: { enabled: true } } }),
      updateSettings: () => Promise.reject(new AppError('INVALID_ARGUMENT', 'wrong', { violations })),
    },
    plainEdge(silentLog, anyone),
  );
  addReflection(server, services);
  health.addToServer(server);
  address = await listen(server, '127.0.0.1:0', ServerCredentials.createInsecure());
});
afterAll(() => shutDown(server, 0));

const call = (...args: string[]) => runGrpcurl(['-plaintext', ...args]);

describe.runIf(grpcurlAvailable('reflection by grpcurl'))('grpcurl without a .proto file', () => {
  test('lists the services', async () => {
    const { stdout } = await call(address, 'list');
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(services.map((service) => service.typeName)));
  });

  test('describes every service and message', async () => {
    for (const service of services) {
      const { code, stdout, stderr } = await call(address, 'describe', service.typeName);
      expect(stderr).toBe('');
      expect(code).toBe(0);
      for (const method of service.methods) {
        expect(stdout).toContain(`rpc ${method.name} (`);
        for (const message of [method.input, method.output]) {
          const described = await call(address, 'describe', message.typeName);
          for (const field of message.fields) {
            expect(described.stdout).toContain(` ${field.name} = ${field.number}`);
          }
        }
      }
    }
  });

  test.each(['v1', 'v1alpha'])('is answered by reflection %s', async (version) => {
    const { stdout } = await call(
      '-import-path',
      join(import.meta.dirname, '../../node_modules/@grpc/reflection/build/proto'),
      '-proto',
      `grpc/reflection/${version}/reflection.proto`,
      '-d',
      '{"listServices":"*"}',
      address,
      `grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    );
    const names = JSON.parse(stdout).listServicesResponse.service.map(
      (service: { name: string }) => service.name,
    );
    expect(names.toSorted()).toEqual([
      'grpc.health.v1.Health',
      ...services.map((service) => service.typeName).toSorted(),
    ]);
  });

  test('keeps what is optional optional', async () => {
    const { stdout } = await call(address, 'describe', 'openbot.codemode.v1.RunCompleted');
    expect(stdout).toContain('optional string value_json = 1;');
  });

  test('calls a method and reads the answer as JSON', async () => {
    const { stdout } = await call(address, 'openbot.codemode.v1.SettingsService/GetSettings');
    expect(JSON.parse(stdout)).toEqual({ settings: { version: '3', codeMode: { enabled: true } } });
  });

  test('reads field violations as text', async () => {
    const { code, stderr } = await call(address, 'openbot.codemode.v1.SettingsService/UpdateSettings');
    expect(code).toBe(64 + 3);
    expect(stderr).toContain('Code: InvalidArgument');
    expect(stderr).toContain('"field": "code_mode.timeout_ms"');
    expect(stderr).toContain('"description": "must be 100 to 600000"');
  });

  test('calls a method by the .proto files alone', async () => {
    const root = join(import.meta.dirname, '../../proto');
    const file = 'openbot/codemode/v1/settings_service.proto';
    const { stdout } = await call(
      '-import-path',
      root,
      '-proto',
      file,
      address,
      'openbot.codemode.v1.SettingsService/GetSettings',
    );
    expect(JSON.parse(stdout)).toMatchObject({ settings: { version: '3' } });
  });

  test('sees the health of each service follow what is set', async () => {
    const check = async (service: string) => {
      const { stdout } = await call(
        '-d',
        JSON.stringify({ service }),
        address,
        'grpc.health.v1.Health/Check',
      );
      return JSON.parse(stdout).status;
    };
    expect(await check('')).toBe('NOT_SERVING');
    health.setAll(true);
    expect(await check('')).toBe('SERVING');
    health.set(CodeRunService.typeName, false);
    expect(await check(CodeRunService.typeName)).toBe('NOT_SERVING');
    expect(await check(SandboxService.typeName)).toBe('SERVING');
    const unknown = await call('-d', '{"service":"nobody"}', address, 'grpc.health.v1.Health/Check');
    expect(unknown.code).toBe(64 + 5);
  });
});
