/**
 * Where children come from on this host, and whether they are locked well enough to be given programs.
 *
 * C1  Forked where that works, else started: the self-test decides, once.
 * C2  Without a required layer nothing starts, unless the configuration says so in plain words.
 */
import type { Log } from '../shared/log.ts';
import type { SandboxConfig } from './config.ts';
import { type LayerReport, missing } from './jail/layers.ts';
import { architectureOf } from './jail/seccomp/syscalls.ts';
import type { ChildSource } from './pool/child.ts';
import { ChildProgram } from './pool/child-program.ts';
import { ForkedChildren } from './pool/forked-children.ts';
import { selfTest } from './pool/self-test.ts';
import { StartedChildren } from './pool/started-children.ts';

export interface Children {
  readonly source: ChildSource;
  readonly layers: readonly LayerReport[];
  readonly forked: boolean;
  /** Whether every required layer holds. */
  readonly locked: boolean;
}

export async function makeChildren(config: SandboxConfig, realm: string, log: Log): Promise<Children> {
  const { source, layers, forked } = await choose(config, realm, log);
  const lacking = missing(layers);
  for (const layer of layers)
    log.info({ layer: layer.name, state: layer.state, detail: layer.detail }, 'layer');
  if (lacking.length === 0) return { source, layers, forked, locked: true };
  const reasons = lacking.map((layer) => `${layer.name} is ${layer.state}: ${layer.detail}`).join('; ');
  if (config.lock === 'required') {
    await source.close();
    throw new Error(
      `programs cannot be locked in on this host (${reasons}). Run on Linux 5.13 or newer, without a profile that forbids seccomp and without hard limits (ulimit -H) below those named here, or set SANDBOX_LOCK=insecure to run every program unlocked`,
    );
  }
  log.warn(
    { lacking: lacking.map((layer) => layer.name) },
    `NOT LOCKED: programs can harm this host: ${reasons}`,
  );
  return { source, layers, forked, locked: false };
}

async function choose(config: SandboxConfig, realm: string, log: Log): Promise<Omit<Children, 'locked'>> {
  const program = await ChildProgram.bundle({ jit: config.jit });
  const lockable = process.platform === 'linux' && architectureOf(process.arch) !== undefined;
  const role = { realm, jit: config.jit, logOnly: config.seccompLogOnly };
  if (lockable && config.children !== 'started') {
    const forked = await ForkedChildren.listen(program, role);
    try {
      return { source: forked, layers: await selfTest(forked), forked: true };
    } catch (error) {
      await forked.close();
      if (config.children === 'forked') throw error;
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason }, 'a prepared process cannot be forked here: each child is started instead');
    }
  }
  const started = new StartedChildren(program, { ...role, lock: lockable ? 'linux' : 'none' });
  try {
    return { source: started, layers: await selfTest(started), forked: false };
  } catch (error) {
    await started.close();
    throw error;
  }
}
