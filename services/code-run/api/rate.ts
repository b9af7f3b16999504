/**
 * How often one may ask. Who is known is counted by subject, so that a caller cannot use up the share of another;
 * who shows what is not valid by address, before it is looked at.
 */
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Authenticator } from '../../shared/auth/authenticator.ts';
import { AppError } from '../../shared/errors.ts';
import type { Identify } from './identify.ts';
import { Strangers } from './strangers.ts';

export function identifyWithin(authenticator: Authenticator, requestsPerSecond: number): Identify {
  const callers = new RateLimiterMemory({ points: requestsPerSecond, duration: 1 });
  const strangers = new Strangers(
    requestsPerSecond,
    (error) => error instanceof AppError && error.code === 'UNAUTHENTICATED',
    () => tooOften(`more than ${requestsPerSecond} requests without a valid identity in a second`),
  );
  return async (sender) => {
    const caller = await strangers.look(sender.peer, () => authenticator.authenticate(sender));
    try {
      await callers.consume(caller.subject);
    } catch {
      throw tooOften(`more than ${requestsPerSecond} requests in a second`);
    }
    return caller;
  };
}

function tooOften(problem: string): AppError {
  return new AppError('RESOURCE_EXHAUSTED', `${problem}: ask again in a second`, { retryable: true });
}
