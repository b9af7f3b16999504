/**
 * All in one, for one machine: CodeRunService in this process, SandboxService as a child process, a SQLite
 * file. Same code and settings as the services by themselves; only the defaults differ.
 */
import { rm } from 'node:fs/promises';
import type { CodeRunConfig } from '../code-run/config.ts';
import { type RunningCodeRun, startCodeRun } from '../code-run/server.ts';
import type { Log } from '../shared/log.ts';
import { type SandboxLock, SandboxProcess } from './sandbox-process.ts';
import { makeSocketFolder } from './socket-folder.ts';

export interface Embedded {
  readonly codeRun: RunningCodeRun;
  readonly sandbox: SandboxProcess;
  /** Where SandboxService serves: "unix:/path". */
  readonly sandboxAddress: string;
  /** As it was at this start. */
  readonly lock: SandboxLock;
  /** Undefined while the store does not answer; `whenKnown` waits for it. */
  readonly codeMode: CodeMode | undefined;
  /** Rejects when the store can never be used. */
  readonly whenKnown: Promise<CodeMode>;
  /** Leaves no process and no file but those of the store. */
  stop(): Promise<void>;
}

/** As it was found. `turned on`: by this start, for it was never set before. */
export type CodeMode = 'on' | 'off' | 'turned on';

export async function startEmbedded(
  config: CodeRunConfig,
  sandboxEnvironment: Readonly<Record<string, string>>,
  log: Log,
): Promise<Embedded> {
  const folder = await makeSocketFolder();
  const address = `unix:${folder}/sandbox.sock`;
  // On loopback the first minutes should work on every host; what is missing of the lock is warned of.
  const environment = { SANDBOX_LOCK: 'development', ...sandboxEnvironment };
  const sandbox = new SandboxProcess({ address, environment, log });
  const clean = async () => {
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const lock = await sandbox.start();
    const codeRun = await startCodeRun({ ...config, sandboxAddress: address }, log);
    const whenKnown = codeRun.context.opening.opened.then(() => turnOn(codeRun));
    whenKnown.catch(() => {}); // Whoever waits hears of it; nobody has to.
    const codeMode = codeRun.context.opening.isOpen ? await whenKnown : undefined;
    const stop = async () => {
      await codeRun.stop();
      await clean();
    };
    return { codeRun, sandbox, sandboxAddress: address, lock, codeMode, whenKnown, stop };
  } catch (error) {
    await clean();
    throw error;
  }
}

/** Turns Code Mode on where nobody ever set it; what was set stays. */
async function turnOn({ context }: RunningCodeRun): Promise<CodeMode> {
  const { version, enabled } = await context.settings.read();
  if (version !== 0) return enabled ? 'on' : 'off';
  await context.settings.update(0, { enabled: true }, (name) => name);
  return 'turned on';
}
