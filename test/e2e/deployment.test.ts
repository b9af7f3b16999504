/**
 * The sandbox on a host of its own, as docs/operating.md says: its commands make the certificates, its files are
 * the configuration. The other host is a network namespace, so this needs root and iproute2.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CodeRunStatus } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { completed, play, start } from '../edges/core.ts';
import { blocksOf } from '../edges/docs.ts';
import { Folder, Service } from '../edges/processes.ts';

const namespace = `cm-${process.pid}`;
/** The address of the documentation, in a network that no other run of this test has. */
const subnet = `10.77.${process.pid % 256}`;

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}

/** Whether this machine lets us make another host of it. */
function canMakeHosts(): boolean {
  try {
    ip('netns', 'add', namespace);
    return true;
  } catch {
    return false;
  }
}

const possible = canMakeHosts();

describe.runIf(possible)('a sandbox on a host of its own', () => {
  let folder: Folder;
  let sandbox: Service;
  let codeRun: Service;
  let grpcAddress: string;

  beforeAll(async () => {
    folder = new Folder();
    ip('link', 'add', `${namespace}-a`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
    ip('addr', 'add', `${subnet}.1/24`, 'dev', `${namespace}-a`);
    ip('link', 'set', `${namespace}-a`, 'up');
    ip('-n', namespace, 'addr', 'add', `${subnet}.2/24`, 'dev', 'eth0');
    ip('-n', namespace, 'link', 'set', 'eth0', 'up');
    ip('-n', namespace, 'link', 'set', 'lo', 'up');

    const blocks = new Map(blocksOf('docs/operating.md').map((block) => [block.id, block.text]));
    const text = (id: string) => (blocks.get(id) ?? '').replaceAll('10.77.0', subnet);
    execFileSync('bash', ['-euo', 'pipefail', '-c', text('certificates')], { cwd: folder.path });
    for (const file of ['sandbox.env', 'code-run.env']) writeFileSync(join(folder.path, file), text(file));

    sandbox = new Service(
      'services/sandbox/main.ts',
      { SANDBOX_LOCK: 'insecure' },
      ['--config', 'sandbox.env'],
      {
        cwd: folder.path,
        inside: ['ip', 'netns', 'exec', namespace],
      },
    );
    await sandbox.ready();
    codeRun = new Service(
      'services/code-run/main.ts',
      {
        CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0',
        CODE_RUN_HTTP_ADDRESS: 'off',
        CODE_RUN_STORE: 'sqlite:runs.db',
        CODE_RUN_KEYS_FILE: 'keys',
      },
      ['--config', 'code-run.env'],
      { cwd: folder.path },
    );
    grpcAddress = String((await codeRun.ready())['grpcAddress']);
    const store = { CODE_RUN_STORE: 'sqlite:runs.db', CODE_RUN_KEYS_FILE: 'keys' };
    const set = new Service('services/code-run/main.ts', store, ['settings', 'set', 'enabled=true'], {
      cwd: folder.path,
    });
    expect(await set.ended()).toEqual({ code: 0, signal: null });
  });
  afterAll(async () => {
    await codeRun?.stop();
    await sandbox?.stop();
    ip('netns', 'del', namespace);
    folder.remove();
  });

  test('runs programs for CodeRunService, over mTLS', async () => {
    const channel = openChannel(grpcAddress, credentials.createInsecure());
    try {
      const core = createClient(CodeRunService, channel);
      const { last } = await play(core, start('return await apps.notes.send({})'), () => completed('sent'));
      expect(last).toMatchObject({
        case: 'finished',
        value: {
          run: { status: CodeRunStatus.COMPLETED, result: { result: { value: { valueJson: '"sent"' } } } },
        },
      });
    } finally {
      channel.close();
    }
  });

  test('serves nobody who has no certificate', async () => {
    const channel = openChannel(`${subnet}.2:7412`, credentials.createInsecure());
    try {
      const status = createClient(SandboxService, channel).getStatus({}, { timeoutMs: 5000 });
      await expect(status).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    } finally {
      channel.close();
    }
  });
});
