/** Conditions of a request on the ETag of what it names (RFC 9110, 13): both headers, lists, stars, weak tags. */
import type { FastifyRequest } from 'fastify';

/** NotModified: the caller of a read has it already. Failed: the request must not be performed. */
export type Condition = 'Met' | 'NotModified' | 'Failed';

export function conditionOf(request: FastifyRequest, tag: string): Condition {
  const { 'if-match': wanted, 'if-none-match': known } = request.headers;
  if (wanted !== undefined && !names(wanted, tag, 'strong')) return 'Failed';
  if (known === undefined || !names(known, tag, 'weak')) return 'Met';
  return request.method === 'GET' || request.method === 'HEAD' ? 'NotModified' : 'Failed';
}

/** Whether a list of tags, or a star, names `tag`. Tags of ours are strong: compared strongly, a weak one is another. */
function names(list: string, tag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true;
  return [...list.matchAll(/(W\/)?("[^"]*")/g)].some(
    ([, weak, named]) => named === tag && (comparison === 'weak' || weak === undefined),
  );
}
