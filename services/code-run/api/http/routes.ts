/**
 * The HTTP routes: reading runs, and the platform's settings. The same checks and errors as on gRPC.
 *
 * H1  What a caller may not see is 404, the same as what is not there.
 * H2  Reads carry an ETag; a matching If-None-Match gets 304 without a body.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { permissions, requirePermission } from '../../../shared/auth/caller.ts';
import { AppError, invalidField } from '../../../shared/errors.ts';
import type { RunRecord } from '../../runner/contract.ts';
import type { Identify } from '../identify.ts';
import type { Reading } from '../reading.ts';
import type { Settings, SettingsChange } from '../settings.ts';
import { Fields } from '../validate.ts';
import { pageJson, runJson, settingsJson } from './json.ts';
import { senderOf } from './sender.ts';

export interface RouteDeps {
  readonly reading: Reading;
  readonly settings: Settings;
  readonly identify: Identify;
}

export function addRoutes(http: FastifyInstance, { reading, settings, identify }: RouteDeps): void {
  http.get<{ Params: { id: string } }>('/v1/code-runs/:id', async (request, reply) => {
    const caller = await identify(senderOf(request.raw));
    const record = await reading.run(caller, request.params.id);
    return sendJson(request, reply, tagOf([record]), () => runJson(record));
  });

  http.get<{ Params: { sessionId: string }; Querystring: Record<string, unknown> }>(
    '/v1/sessions/:sessionId/code-runs',
    async (request, reply) => {
      const caller = await identify(senderOf(request.raw));
      const query = { session: request.params.sessionId, ...pageQuery(request.query) };
      const { records, nextPageToken } = await reading.list(caller, query, queryNames);
      return sendJson(request, reply, tagOf(records, nextPageToken), () => pageJson(records, nextPageToken));
    },
  );

  http.get('/v1/platform/settings', async (request, reply) => {
    requirePermission(await identify(senderOf(request.raw)), permissions.administer);
    const current = await settings.read();
    return sendJson(request, reply, `"${current.version}"`, () => [JSON.stringify(settingsJson(current))]);
  });

  http.patch('/v1/platform/settings', async (request, reply) => {
    requirePermission(await identify(senderOf(request.raw)), permissions.administer);
    const { expectedVersion, codeMode } = patchOf(request.body);
    const changed = await settings.update(expectedVersion, codeMode, (name) => `codeMode.${name}`);
    return reply.header('etag', `"${changed.version}"`).send(settingsJson(changed));
  });
}

const queryNames = { session: 'sessionId', pageSize: 'pageSize', pageToken: 'pageToken' };

function pageQuery(query: Record<string, unknown>): { pageSize: number; pageToken: string } {
  const fields = new Fields();
  for (const name of Object.keys(query)) {
    if (name !== 'pageSize' && name !== 'pageToken') fields.wrong(name, 'is not a parameter of this route');
    else if (typeof query[name] !== 'string') fields.wrong(name, 'must be given once');
  }
  fields.done();
  const { pageSize = '0', pageToken = '' } = query;
  // Not a whole number: -1 is outside the range, and the check of the range says what it should be.
  return {
    pageSize: /^\d{1,9}$/.test(String(pageSize)) ? Number(pageSize) : -1,
    pageToken: String(pageToken),
  };
}

const patchSchema = z.strictObject({
  expectedVersion: z.int().min(0),
  codeMode: z.strictObject({
    enabled: z.boolean().optional(),
    timeoutMs: z.number().optional(),
    memoryMb: z.number().optional(),
    outputBytes: z.number().optional(),
  }),
});

function patchOf(body: unknown): { expectedVersion: number; codeMode: SettingsChange } {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalidField('body', 'must be a JSON object');
  const parsed = patchSchema.safeParse(body);
  if (parsed.success) return parsed.data;
  const violations = parsed.error.issues.flatMap((issue) => {
    const path = issue.path.join('.');
    if (issue.code === 'unrecognized_keys') {
      const names = issue.keys.map((key) => (path === '' ? key : `${path}.${key}`));
      return names.map((field) => ({ field: field.slice(0, 100), description: 'is not a field' }));
    }
    return [{ field: path, description: descriptions[path] ?? 'is not as it should be' }];
  });
  const [first] = violations;
  throw new AppError('INVALID_ARGUMENT', `${first?.field}: ${first?.description}`, { violations });
}

const descriptions: Readonly<Record<string, string>> = {
  expectedVersion: 'must be the version that the change was made for, a whole number',
  codeMode: 'must be an object with the fields to change',
  'codeMode.enabled': 'must be true or false',
  'codeMode.timeoutMs': 'must be a number',
  'codeMode.memoryMb': 'must be a number',
  'codeMode.outputBytes': 'must be a number',
};

/** A run changes with its status, its journal and its time; together they are its version. */
function tagOf(records: readonly RunRecord[], nextPageToken = ''): string {
  const hash = createHash('sha256').update(nextPageToken);
  for (const { run, journal } of records) {
    hash.update(JSON.stringify([run.id, run.status, journal.length, run.updatedAtMs, run.attempts.length]));
  }
  return `"${hash.digest('base64url').slice(0, 22)}"`;
}

function sendJson(
  request: FastifyRequest,
  reply: FastifyReply,
  tag: string,
  pieces: () => Iterable<string>,
): FastifyReply {
  reply.header('etag', tag).header('cache-control', 'private, no-cache').header('vary', 'authorization');
  if (matches(request.headers['if-none-match'], tag)) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(Readable.from(pieces()));
}

/** RFC 9110, 13.1.2: a list of tags or a star, compared weakly. */
function matches(condition: string | undefined, tag: string): boolean {
  if (condition === undefined) return false;
  return condition.split(',').some((part) => ['*', tag].includes(part.trim().replace(/^W\//, '')));
}
