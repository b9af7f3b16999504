/**
 * Page tokens: the place after which the next page begins, bound to its session. They name a place and not a
 * number, so that inserts do not move it.
 */
import { createHash } from 'node:crypto';
import { PageTokenInvalid } from './contract.ts';
import type { ListPosition } from './rows.ts';

const tokenPattern = /^1 (\d{1,16}) ([0-9a-f]{16}) ([!-~]{1,256})$/;

export function pageToken(session: string, { createdAtMs, id }: ListPosition): string {
  return Buffer.from(`1 ${createdAtMs} ${digest(session)} ${id}`, 'utf8').toString('base64url');
}

export function readPageToken(session: string, token: string): ListPosition {
  const [, createdAtMs, of, id] = tokenPattern.exec(Buffer.from(token, 'base64url').toString('utf8')) ?? [];
  if (createdAtMs === undefined || id === undefined || of !== digest(session)) {
    throw new PageTokenInvalid('must be a token that an earlier page of this session gave');
  }
  return { createdAtMs: Number(createdAtMs), id };
}

function digest(session: string): string {
  return createHash('sha256').update(session).digest('hex').slice(0, 16);
}
