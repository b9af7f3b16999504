/** Connects the apps of a command. */
import type { Catalog } from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import type { Apps } from '../mcp/apps.ts';
import { CommandError, exitStatus } from './exit.ts';

/** Connects every server, or fails naming those that cannot be reached. Stopping the command stops it. */
export async function connectApps(apps: Apps, signal: AbortSignal): Promise<Catalog> {
  signal.throwIfAborted();
  signal.addEventListener('abort', () => void apps.close(), { once: true });
  const { catalog, unavailable } = await apps.catalog();
  signal.throwIfAborted();
  if (unavailable.length === 0) return catalog;
  throw new CommandError(exitStatus.unavailable, unavailable.map(({ error }) => error.message).join('\n'));
}
