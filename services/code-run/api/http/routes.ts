/**
 * The HTTP routes: reading runs, and the platform's settings. The same checks and errors as on gRPC.
 *
 * H1  What a caller may not see is 404, the same as what is not there.
 * H2  Reads carry an ETag; a matching If-None-Match gets 304 without a body, an If-Match that does not fit 412.
 * H3  A name that a route does not know, in a query or a body, is an error: mistyped, it would do nothing.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { permissions, requirePermission } from '../../../shared/auth/caller.ts';
import { limits } from '../../../shared/limits.ts';
import type { RunRecord } from '../../runner/contract.ts';
import type { Identify } from '../identify.ts';
import type { Reading } from '../reading.ts';
import type { Settings } from '../settings.ts';
import { Fields } from '../validate.ts';
import { shownField } from './body.ts';
import { conditionOf } from './conditions.ts';
import { pageJson, runJson, settingsJson } from './json.ts';
import { httpProblem, sendProblem } from './problem.ts';
import { senderOf } from './sender.ts';
import { changeFieldName, changeOf } from './settings-change.ts';

export interface RouteDeps {
  readonly reading: Reading;
  readonly settings: Settings;
  readonly identify: Identify;
}

type Query = Record<string, unknown>;

export function addRoutes(http: FastifyInstance, { reading, settings, identify }: RouteDeps): void {
  http.get<{ Params: { id: string }; Querystring: Query }>('/v1/code-runs/:id', async (request, reply) => {
    const caller = await identify(senderOf(request.raw));
    queryOf(request.query, []);
    const record = await reading.run(caller, request.params.id);
    return sendJson(request, reply, tagOf([record]), () => runJson(record));
  });

  http.get<{ Params: { sessionId: string }; Querystring: Query }>(
    '/v1/sessions/:sessionId/code-runs',
    async (request, reply) => {
      const caller = await identify(senderOf(request.raw));
      const query = { session: request.params.sessionId, ...pageOf(request.query) };
      const { records, nextPageToken } = await reading.list(caller, query, listNames);
      return sendJson(request, reply, tagOf(records, nextPageToken), () => pageJson(records, nextPageToken));
    },
  );

  http.get<{ Querystring: Query }>('/v1/platform/settings', async (request, reply) => {
    requirePermission(await identify(senderOf(request.raw)), permissions.administer);
    queryOf(request.query, []);
    const current = await settings.read();
    return sendJson(request, reply, versionTag(current), () => [JSON.stringify(settingsJson(current))]);
  });

  http.patch<{ Querystring: Query }>('/v1/platform/settings', async (request, reply) => {
    requirePermission(await identify(senderOf(request.raw)), permissions.administer);
    queryOf(request.query, []);
    const { expectedVersion, codeMode } = changeOf(request.body);
    const tag = versionTag(await settings.read());
    if (conditionOf(request, tag) === 'Failed') return sendConditionFailed(reply, tag);
    const changed = await settings.update(expectedVersion, codeMode, changeFieldName);
    return reply.header('etag', versionTag(changed)).send(settingsJson(changed));
  });
}

const listNames = { session: 'sessionId', pageSize: 'pageSize', pageToken: 'pageToken' };

function pageOf(query: Query): { pageSize: number; pageToken: string } {
  const { pageSize, pageToken = '' } = queryOf(query, ['pageSize', 'pageToken']);
  if (pageSize === undefined) return { pageSize: 0, pageToken };
  const wanted = /^\d{1,9}$/.test(pageSize) ? Number(pageSize) : Number.NaN;
  // Here and not where lists are read: in a message 0 says that there is no wish, in a query no parameter does.
  const fields = new Fields();
  fields.range(listNames.pageSize, wanted, 1, limits.pageSizeMax);
  fields.done();
  return { pageSize: wanted, pageToken };
}

/** The parameters that were given. Throws where one is not known to the route, or is there twice. */
function queryOf<Name extends string>(query: Query, names: readonly Name[]): Partial<Record<Name, string>> {
  const fields = new Fields();
  for (const [name, value] of Object.entries(query)) {
    if (!names.some((known) => known === name))
      fields.wrong(shownField(name), 'is not a parameter of this route');
    else if (typeof value !== 'string') fields.wrong(name, 'must be given once');
  }
  fields.done();
  return query as Partial<Record<Name, string>>; // As checked just above.
}

/** A run changes with its status, its journal and its time; together they are its version. */
function tagOf(records: readonly RunRecord[], nextPageToken = ''): string {
  const hash = createHash('sha256').update(nextPageToken);
  for (const { run, journal } of records) {
    const { id, status, updatedAtMs, attempts, code } = run;
    // The program is left out of a run that cannot be read: with its key it is another text.
    hash.update(JSON.stringify([id, status, journal.length, updatedAtMs, attempts.length, code.length]));
  }
  return `"${hash.digest('base64url').slice(0, 22)}"`;
}

function versionTag({ version }: { readonly version: number }): string {
  return `"${version}"`;
}

function sendJson(
  request: FastifyRequest,
  reply: FastifyReply,
  tag: string,
  pieces: () => Iterable<string>,
): FastifyReply {
  const condition = conditionOf(request, tag);
  if (condition === 'Failed') return sendConditionFailed(reply, tag);
  reply.header('etag', tag).header('cache-control', 'private, no-cache').header('vary', 'authorization');
  if (condition === 'NotModified') return reply.code(304).send();
  // The answer to HEAD has no body, and how long it would be is not known before it is written.
  const body = request.method === 'HEAD' ? [] : pieces();
  return reply.type('application/json; charset=utf-8').send(Readable.from(body));
}

function sendConditionFailed(reply: FastifyReply, tag: string): FastifyReply {
  return sendProblem(reply.header('etag', tag), httpProblem(412, `the ETag is ${tag}: read it again`));
}
