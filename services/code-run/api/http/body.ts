/**
 * The body of a request: JSON in UTF-8, as it is, and nothing else.
 *
 * B1  What cannot be read is told by its place, and a member that is there twice by its name: parsers differ on
 *     which of the two counts.
 * B2  An error never quotes a value of the body.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidField } from '../../../shared/errors.ts';
import { jsonProblem } from '../../../shared/json.ts';
import { limits } from '../../../shared/limits.ts';
import { truncateUtf8 } from '../../../shared/text.ts';

export const bodyType = 'application/json';

/** Any other media type is refused by fastify. */
export function addJsonBody(http: FastifyInstance): void {
  http.removeAllContentTypeParsers();
  http.addContentTypeParser(
    bodyType,
    { parseAs: 'buffer' },
    async ({ headers }: FastifyRequest, body: Buffer) => {
      checkForm(headers);
      return parseBody(body);
    },
  );
}

/** A body in a form that is not read: compressed, or in another charset. */
export class UnsupportedBody extends Error {
  override readonly name = 'UnsupportedBody';
  readonly statusCode = 415;
  readonly code: 'BODY_ENCODED' | 'BODY_CHARSET';

  constructor(code: UnsupportedBody['code']) {
    super(code);
    this.code = code;
  }
}

function checkForm({ 'content-encoding': encoding = '', 'content-type': type = '' }: IncomingHttpHeaders) {
  if (!/^(?:[ \t]*(?:identity)?[ \t]*,?)*$/i.test(encoding)) throw new UnsupportedBody('BODY_ENCODED');
  for (const [, charset = ''] of type.matchAll(/;[ \t]*charset[ \t]*=[ \t]*("[^"]*"|[^;\s]*)/gi)) {
    if (!/^"?utf-?8"?$/i.test(charset)) throw new UnsupportedBody('BODY_CHARSET');
  }
}

function parseBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalidField('body', 'must be UTF-8');
  const text = bytes.toString('utf8');
  const value = parsed(text);
  const repeated = repeatedMember(text);
  if (repeated !== undefined) throw invalidField(shownField(repeated), 'must be there once');
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not kept as the cause: its message is a piece of the text.
    throw invalidField('body', `must be JSON: ${jsonProblem(text)}`);
  }
}

/** A name that the caller chose, as an error shows it. */
export function shownField(path: string): string {
  return truncateUtf8(path, limits.statusViolationBytesMax);
}

/** Path of the first member that an object of `json` has twice. `json` is known to be JSON. */
function repeatedMember(json: string): string | undefined {
  const open: { readonly names: Set<string>; name: string }[] = [];
  for (const [token, name, colon] of json.matchAll(/("(?:[^"\\]|\\.)*")[ \t\r\n]*(:?)|[{}[\]]/g)) {
    const inside = open.at(-1);
    if (token === '{' || token === '[') open.push({ names: new Set(), name: '' });
    else if (token === '}' || token === ']') open.pop();
    else if (colon === ':' && name !== undefined && inside !== undefined) {
      inside.name = JSON.parse(name) as string; // A string of JSON.
      if (inside.names.has(inside.name)) return open.map((level) => level.name).join('.');
      inside.names.add(inside.name);
    }
  }
  return undefined;
}
