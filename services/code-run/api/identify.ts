/** Who calls, with the caller's share of requests taken: the first thing that every handler asks. */
import type { Sender } from '../../shared/auth/authenticator.ts';
import type { Caller } from '../../shared/auth/caller.ts';

/** Throws UNAUTHENTICATED, UNAVAILABLE, or RESOURCE_EXHAUSTED for a caller that asks too often. */
export type Identify = (sender: Sender) => Promise<Caller>;
