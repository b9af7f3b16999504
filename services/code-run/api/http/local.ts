/**
 * Keeps pages of other sites out of a port that asks nobody who calls. A browser on this machine reaches it: a
 * site whose name is made to resolve to loopback would be taken for the port's own, but its Host tells, and a page
 * that sends a request across sites is told by its Origin.
 */
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../../../shared/address.ts';
import { httpProblem, type Problem } from './problem.ts';

/** Undefined: the request is for this machine, and not from a page of another. */
export function foreignProblem({ headers }: IncomingMessage): Problem | undefined {
  const { host, origin } = headers;
  if (host !== undefined && !namesLoopback(host)) {
    return httpProblem(421, 'without identity the Host must be localhost or a loopback address');
  }
  if (origin !== undefined && !namesLoopback(/^https?:\/\/(.*)$/i.exec(origin)?.[1] ?? '')) {
    return httpProblem(403, 'without identity the Origin must be on localhost or a loopback address');
  }
  return undefined;
}

function namesLoopback(authority: string): boolean {
  const [, v6, name] = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]/@]+))(?::\d{1,5})?$/i.exec(authority) ?? [];
  const host = v6 ?? name?.toLowerCase();
  return host !== undefined && isLoopback({ kind: 'tcp', host, port: 0 });
}
