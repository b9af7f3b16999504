/** The catalogs of test/fixtures/catalogs as messages. */
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type Catalog,
  CatalogSchema,
  type ConnectionSchema,
  type Tool,
} from '../../gen/openbot/codemode/v1/catalog_pb.js';
import type { CompiledCatalog } from '../../services/code-run/bindings/compile.ts';
import { type ConnectionFile, connectionFiles } from '../../services/code-run/bindings/files.ts';
import { worldDeclarations } from '../../services/code-run/bindings/world.ts';

const folder = new URL('../fixtures/catalogs/', import.meta.url);

interface RawTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string | null;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: Record<string, unknown>;
  readonly arguments?: readonly { name: string; type?: string; desc?: string; items?: unknown }[] | null;
}

interface RawResource {
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

interface RawConnection {
  readonly connection: string;
  readonly instructions?: string;
  readonly tools?: readonly RawTool[];
  readonly resources?: readonly RawResource[];
  readonly resourceTemplates?: readonly RawResource[];
  readonly prompts?: readonly {
    name: string;
    title?: string;
    description?: string;
    arguments?: { name: string; description?: string; required?: boolean }[];
  }[];
}

export function catalogFiles(): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json.gz'))
    .sort();
}

/** The connections of one file; ids are unique over all files. */
export function catalogOf(file: string): Catalog {
  const raw = JSON.parse(gunzipSync(readFileSync(new URL(file, folder))).toString());
  const list: readonly RawConnection[] = raw.connections ?? [raw];
  return create(CatalogSchema, { connections: list.map((one, index) => connectionFrom(file, index, one)) });
}

/** All files as one catalog. */
export function wholeCatalog(): Catalog {
  return create(CatalogSchema, {
    connections: catalogFiles().flatMap((file) => catalogOf(file).connections),
  });
}

export function toolsOf(catalog: Catalog): Tool[] {
  return catalog.connections.flatMap((connection) => connection.tools);
}

/** The declarations of every connection, in full. */
export function filesOf(compiled: CompiledCatalog): ConnectionFile[] {
  return connectionFiles(compiled.table.all);
}

/** All of them, and what stands beside them. */
export function declarationsOf(compiled: CompiledCatalog): string {
  return [worldDeclarations, ...filesOf(compiled).map((file) => file.text)].join('\n');
}

function connectionFrom(
  file: string,
  index: number,
  raw: RawConnection,
): MessageInitShape<typeof ConnectionSchema> {
  return {
    id: `${file.replace('.json.gz', '')}-${index}`,
    name: raw.connection,
    description: raw.instructions ?? '',
    tools: (raw.tools ?? []).map((tool) => ({
      name: tool.name,
      title: tool.title ?? '',
      description: tool.description ?? '',
      inputSchemaJson: JSON.stringify(tool.inputSchema ?? schemaFromFlat(tool)) ?? '',
      outputSchemaJson: JSON.stringify(tool.outputSchema) ?? '',
      hints: hintsFrom(tool.annotations ?? {}),
    })),
    resources: (raw.resources ?? []).map((one) => ({ ...pick(one), uri: one.uri ?? '' })),
    resourceTemplates: (raw.resourceTemplates ?? []).map((one) => ({
      ...pick(one),
      uriTemplate: one.uriTemplate ?? '',
    })),
    prompts: (raw.prompts ?? []).map((prompt) => ({
      name: prompt.name,
      title: prompt.title ?? '',
      description: prompt.description ?? '',
      arguments: (prompt.arguments ?? []).map((argument) => ({
        name: argument.name,
        description: argument.description ?? '',
        required: argument.required ?? false,
      })),
    })),
  };
}

function pick(one: RawResource) {
  return {
    name: one.name ?? '',
    title: one.title ?? '',
    description: one.description ?? '',
    mimeType: one.mimeType ?? '',
  };
}

function hintsFrom(annotations: Record<string, unknown>): Record<string, boolean> {
  const hints: Record<string, boolean> = {};
  for (const name of ['readOnly', 'destructive', 'idempotent', 'openWorld']) {
    const said = annotations[`${name}Hint`];
    if (typeof said === 'boolean') hints[name] = said;
  }
  return hints;
}

function schemaFromFlat(tool: RawTool): unknown {
  if (tool.arguments === undefined || tool.arguments === null) return undefined;
  const properties = tool.arguments.map(({ name, type, desc, items }) => [
    name,
    { type, description: desc, items },
  ]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}
