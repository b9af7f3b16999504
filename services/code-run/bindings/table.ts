/**
 * The table of a catalog: every capability of every connection under its name. Pure.
 *
 * Order and numbering follow connection id, then raw name, then kind, then source; what is equal in all of
 * them is ordered by its content. The order in which a catalog lists things changes nothing.
 */
import type {
  Catalog,
  Connection,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
} from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import type { Binding, CapabilityKind } from '../core/model.ts';
import { compareText, numberNames } from './names.ts';

/** A capability as the catalog describes it, by kind. */
export type Capability =
  | { readonly kind: 'tool'; readonly tool: Tool }
  | { readonly kind: 'resource'; readonly resource: Resource }
  | { readonly kind: 'resourceTemplate'; readonly template: ResourceTemplate }
  | { readonly kind: 'prompt'; readonly prompt: Prompt };

/** A name with everything the catalog says about it. */
export interface BoundCapability {
  readonly binding: Binding;
  /** "work_calendar.list_events". */
  readonly name: string;
  readonly connection: Connection;
  readonly capability: Capability;
}

/** `apps.call` is the function, so no connection gets that name. */
const takenByApps = ['call'];

/** An object with a function `then` would be called by `await apps.x`, so no capability gets that name. */
const takenByAwait = ['then'];

const kindOrder: readonly CapabilityKind[] = ['tool', 'resource', 'resourceTemplate', 'prompt'];

interface Item {
  readonly capability: Capability;
  readonly rawName: string;
  readonly sourceName: string;
  /** Tells apart what is equal otherwise. */
  readonly content: string;
}

export function bindCatalog(catalog: Catalog): Binding[] {
  return bindCapabilities(catalog).map((bound) => bound.binding);
}

export function bindCapabilities(catalog: Catalog): BoundCapability[] {
  const connections = catalog.connections.toSorted(
    (a, b) => compareText(a.id, b.id) || compareText(a.name, b.name),
  );
  const names = numberNames(
    connections.map((connection) => connection.name),
    takenByApps,
  );
  return connections.flatMap((connection, index) => bindConnection(connection, names[index] ?? ''));
}

function bindConnection(connection: Connection, connectionName: string): BoundCapability[] {
  const items = itemsOf(connection).toSorted(compareItems);
  const names = numberNames(
    items.map((item) => item.rawName),
    takenByAwait,
  );
  return items.map(({ capability, rawName, sourceName }, index) => {
    const name = names[index] ?? '';
    return {
      binding: {
        connection: connectionName,
        capability: name,
        source: {
          connectionId: connection.id,
          connectionName: connection.name,
          kind: capability.kind,
          name: sourceName,
        },
        rawName,
      },
      name: `${connectionName}.${name}`,
      connection,
      capability,
    };
  });
}

function itemsOf(connection: Connection): Item[] {
  return [
    ...connection.tools.map(
      (tool): Item => ({
        capability: { kind: 'tool', tool },
        rawName: tool.name,
        sourceName: tool.name,
        content: `${tool.inputSchemaJson}\n${tool.outputSchemaJson}\n${tool.title}\n${tool.description}`,
      }),
    ),
    ...connection.resources.map(
      (resource): Item => ({
        capability: { kind: 'resource', resource },
        rawName: resource.name || resource.uri,
        sourceName: resource.uri,
        content: `${resource.mimeType}\n${resource.title}\n${resource.description}`,
      }),
    ),
    ...connection.resourceTemplates.map(
      (template): Item => ({
        capability: { kind: 'resourceTemplate', template },
        rawName: template.name || template.uriTemplate,
        sourceName: template.uriTemplate,
        content: `${template.mimeType}\n${template.title}\n${template.description}`,
      }),
    ),
    ...connection.prompts.map(
      (prompt): Item => ({
        capability: { kind: 'prompt', prompt },
        rawName: prompt.name,
        sourceName: prompt.name,
        content: `${prompt.arguments.map((argument) => argument.name).join()}\n${prompt.title}\n${prompt.description}`,
      }),
    ),
  ];
}

function compareItems(a: Item, b: Item): number {
  return (
    compareText(a.rawName, b.rawName) ||
    kindOrder.indexOf(a.capability.kind) - kindOrder.indexOf(b.capability.kind) ||
    compareText(a.sourceName, b.sourceName) ||
    compareText(a.content, b.content)
  );
}

/** How a program or an agent may have written a name. */
export type Lookup =
  | { readonly tag: 'Found'; readonly bound: BoundCapability }
  /** More than one binding has these raw names. */
  | { readonly tag: 'Ambiguous'; readonly candidates: readonly BoundCapability[] }
  | { readonly tag: 'Unknown' };

/** Both directions of the table: "work_calendar.list_events", and the raw "Work calendar/list-events". */
export class BindingTable {
  readonly all: readonly BoundCapability[];
  readonly #byName = new Map<string, BoundCapability>();
  readonly #byRawName = new Map<string, BoundCapability[]>();

  constructor(all: readonly BoundCapability[]) {
    this.all = all;
    for (const bound of all) {
      this.#byName.set(bound.name, bound);
      const raw = rawNameOf(bound.binding);
      const same = this.#byRawName.get(raw);
      if (same === undefined) this.#byRawName.set(raw, [bound]);
      else same.push(bound);
    }
  }

  find(written: string): Lookup {
    const name =
      written.startsWith('apps.') && !this.#byName.has(written) ? written.slice('apps.'.length) : written;
    const bound = this.#byName.get(name);
    if (bound !== undefined) return { tag: 'Found', bound };
    const [first, ...others] = this.#byRawName.get(written) ?? [];
    if (first === undefined) return { tag: 'Unknown' };
    return others.length === 0
      ? { tag: 'Found', bound: first }
      : { tag: 'Ambiguous', candidates: [first, ...others] };
  }
}

/** The raw form that apps.call takes. */
export function rawNameOf(binding: Binding): string {
  return `${binding.source.connectionName}/${binding.rawName}`;
}
