/**
 * Who calls, and what they may do. Rights come from configuration and tokens alone, never from a request.
 */
import { AppError } from '../errors.ts';

/** Every permission there is; a token's others are ignored. */
export const permissions = {
  /** Read code runs of one's own sessions. */
  useApps: 'apps.use',
  /** List the code runs of a session of one's own. */
  readSessions: 'sessions.read',
  /** Read and change the platform's settings. */
  administer: 'platform.admin',
  /** The core's own: run programs for any owner; read, cancel and delete any run. */
  execute: 'runs.execute',
} as const;

export type Permission = (typeof permissions)[keyof typeof permissions];

export const allPermissions: readonly Permission[] = Object.values(permissions);

export interface Caller {
  /** "sub" of the token; a name of our own for a caller without one. For logs, limits and ownership. */
  readonly subject: string;
  readonly permissions: ReadonlySet<Permission>;
  /** The sessions that the token names as its own; undefined if it names none, and ownership alone decides. */
  readonly sessions: ReadonlySet<string> | undefined;
}

/** Throws PERMISSION_DENIED that names the permission. */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (caller.permissions.has(permission)) return;
  throw new AppError('PERMISSION_DENIED', `needs the permission ${permission}`);
}

/** What ownership is decided on. */
export interface Owned {
  readonly owner: string;
  readonly session: string;
}

/** Whether a caller may know of a run. */
export function maySee(caller: Caller, run: Owned): boolean {
  if (caller.permissions.has(permissions.execute)) return true;
  return run.owner === caller.subject && (caller.sessions?.has(run.session) ?? true);
}
