/** Both real services for tests: CodeRunService in this process, SandboxService as a child. */
import { randomUUID } from 'node:crypto';
import { credentials } from '@grpc/grpc-js';
import type { CodeRun } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import type { Embedded } from '../../services/embedded/embedded.ts';
import { startPrivate } from '../../services/embedded/private.ts';
import type { CodeRunClient } from '../../services/reference-core/client/attempt.ts';
import { ReferenceCore } from '../../services/reference-core/client/core.ts';
import type { Apps } from '../../services/reference-core/mcp/apps.ts';
import type { Decider } from '../../services/reference-core/operations/decider.ts';
import { OperationRecord } from '../../services/reference-core/operations/record.ts';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';

export interface TestServices extends AsyncDisposable {
  readonly embedded: Embedded;
  readonly client: CodeRunClient;
  /** What a core dials. */
  readonly address: string;
}

/** `limits`: settings to change from their first values. */
export async function startServices(
  limits: { readonly timeoutMs?: number; readonly memoryMb?: number; readonly outputBytes?: number } = {},
): Promise<TestServices> {
  const { address, embedded, stop } = await startPrivate();
  const { settings } = embedded.codeRun.context;
  const { version } = await settings.read();
  if (Object.keys(limits).length > 0) await settings.update(version, limits, (name) => name);
  const channel = openChannel(address, credentials.createInsecure());
  return {
    embedded,
    address,
    client: createClient(CodeRunService, channel),
    [Symbol.asyncDispose]: async () => {
      channel.close();
      await stop();
    },
  };
}

export interface Played {
  readonly run: CodeRun;
  readonly agentText: string;
}

/** Lets every call through. */
export const allowAll: Decider = { decide: () => ({ tag: 'Allow' }), ask: async () => undefined };

/** Runs one program with the reference core to its end. */
export async function play(services: TestServices, apps: Apps, code: string): Promise<Played> {
  using record = new OperationRecord(':memory:');
  const core = new ReferenceCore({ client: services.client, apps, record, decider: allowAll });
  const id = randomUUID();
  const request = { session: id, turn: id, callId: id, owner: 'test', code, reason: 'To test.' };
  const end = await core.run(request, {}, new AbortController().signal);
  if (end.tag !== 'Finished') throw new Error('the run waits');
  return { run: end.run, agentText: end.agentText };
}
