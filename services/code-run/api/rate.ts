/** How often one caller may ask. Counted after authentication: a caller cannot use up the share of another. */
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Authenticator } from '../../shared/auth/authenticator.ts';
import { AppError } from '../../shared/errors.ts';
import type { Identify } from './identify.ts';

export function identifyWithin(authenticator: Authenticator, requestsPerSecond: number): Identify {
  const limiter = new RateLimiterMemory({ points: requestsPerSecond, duration: 1 });
  return async (sender) => {
    const caller = await authenticator.authenticate(sender);
    try {
      await limiter.consume(caller.subject);
    } catch {
      throw new AppError(
        'RESOURCE_EXHAUSTED',
        `more than ${requestsPerSecond} requests in a second: ask again in a second`,
        { retryable: true },
      );
    }
    return caller;
  };
}
