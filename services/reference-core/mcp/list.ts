/**
 * Reads what a server offers into a message of the catalog.
 *
 * L1  Every page is read; a cursor that never ends is an error that names the server.
 * L2  One entry that breaks the rules never loses the others: a schema is passed on as it is, a field of a
 *     wrong type counts as absent, and only what has no name (or URI) to call it by is left out.
 */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type Client, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import {
  type Connection,
  ConnectionSchema,
  type PromptArgumentSchema,
  type PromptSchema,
  type ResourceSchema,
  type ResourceTemplateSchema,
  type ToolSchema,
} from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import { AppError } from '../../shared/errors.ts';
import { appLimits } from '../../shared/limits.ts';
import { isObject, type JsonObject, rawRequest } from './raw-request.ts';

/** The fields that are read of any entry; nothing is known of their types. */
interface Raw {
  readonly name?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly uri?: unknown;
  readonly uriTemplate?: unknown;
  readonly mimeType?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
  readonly arguments?: unknown;
  readonly required?: unknown;
}

interface RawHints {
  readonly title?: unknown;
  readonly readOnlyHint?: unknown;
  readonly destructiveHint?: unknown;
  readonly idempotentHint?: unknown;
  readonly openWorldHint?: unknown;
}

export async function listConnection(client: Client, name: string, signal: AbortSignal): Promise<Connection> {
  const offered = client.getServerCapabilities() ?? {};
  const list = (when: unknown, method: string, field: string): Promise<Raw[]> =>
    when === undefined ? Promise.resolve([]) : readPages(client, name, method, field, signal);
  const [tools, resources, templates, prompts] = await Promise.all([
    list(offered.tools, 'tools/list', 'tools'),
    list(offered.resources, 'resources/list', 'resources'),
    list(offered.resources, 'resources/templates/list', 'resourceTemplates'),
    list(offered.prompts, 'prompts/list', 'prompts'),
  ]);
  return create(ConnectionSchema, {
    id: name,
    name,
    description: text(client.getServerVersion()?.description) || text(client.getInstructions()),
    tools: tools.flatMap(toTool),
    resources: resources.flatMap(toResource),
    resourceTemplates: templates.flatMap(toTemplate),
    prompts: prompts.flatMap(toPrompt),
  });
}

async function readPages(
  client: Client,
  name: string,
  method: string,
  field: string,
  signal: AbortSignal,
): Promise<Raw[]> {
  const entries: Raw[] = [];
  const options = { timeout: appLimits.listTimeoutMs, signal };
  let cursor: string | undefined;
  for (let page = 0; page < appLimits.listPagesMax; page++) {
    let result: JsonObject;
    try {
      result = await rawRequest(client, method, cursor === undefined ? {} : { cursor }, options);
    } catch (error) {
      // Servers say that they have resources and know nothing of templates.
      if (error instanceof ProtocolError && error.code === ProtocolErrorCode.MethodNotFound) return entries;
      throw error;
    }
    const batch = result[field];
    if (Array.isArray(batch)) entries.push(...batch.filter(isObject));
    const next = (result as { readonly nextCursor?: unknown }).nextCursor;
    if (typeof next !== 'string') return entries;
    cursor = next;
  }
  throw new AppError(
    'UNAVAILABLE',
    `MCP server "${name}": ${method} did not end after ${appLimits.listPagesMax} pages`,
  );
}

function toTool(raw: Raw): MessageInitShape<typeof ToolSchema>[] {
  const name = text(raw.name);
  if (name === '') return [];
  const hints: RawHints = isObject(raw.annotations) ? raw.annotations : {};
  return [
    {
      name,
      title: text(raw.title) || text(hints.title),
      description: text(raw.description),
      inputSchemaJson: json(raw.inputSchema),
      outputSchemaJson: json(raw.outputSchema),
      hints: {
        ...flag('readOnly', hints.readOnlyHint),
        ...flag('destructive', hints.destructiveHint),
        ...flag('idempotent', hints.idempotentHint),
        ...flag('openWorld', hints.openWorldHint),
      },
    },
  ];
}

function toResource(raw: Raw): MessageInitShape<typeof ResourceSchema>[] {
  const uri = text(raw.uri);
  return uri === '' ? [] : [{ uri, ...described(raw, uri), mimeType: text(raw.mimeType) }];
}

function toTemplate(raw: Raw): MessageInitShape<typeof ResourceTemplateSchema>[] {
  const uriTemplate = text(raw.uriTemplate);
  if (uriTemplate === '') return [];
  return [{ uriTemplate, ...described(raw, uriTemplate), mimeType: text(raw.mimeType) }];
}

function toPrompt(raw: Raw): MessageInitShape<typeof PromptSchema>[] {
  const name = text(raw.name);
  if (name === '') return [];
  const declared = Array.isArray(raw.arguments) ? raw.arguments.filter(isObject) : [];
  return [{ ...described(raw, name), arguments: declared.flatMap(toPromptArgument) }];
}

function toPromptArgument(raw: Raw): MessageInitShape<typeof PromptArgumentSchema>[] {
  const name = text(raw.name);
  if (name === '') return [];
  return [{ name, description: text(raw.description), required: raw.required === true }];
}

function described(raw: Raw, fallback: string) {
  return {
    name: text(raw.name) || fallback,
    title: text(raw.title),
    description: text(raw.description),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function json(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value);
}

function flag<K extends string>(key: K, value: unknown): Partial<Record<K, boolean>> {
  return typeof value === 'boolean' ? ({ [key]: value } as Record<K, boolean>) : {};
}
