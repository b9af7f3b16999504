/**
 * A catalog made ready: its table at once, its index when it is first searched, and the declarations of what a
 * program names with each check. It never changes, so runs share it; who keeps it bounds how many are kept.
 */
import type { Catalog } from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import type { Binding } from '../core/model.ts';
import { filesFor } from './files.ts';
import { SearchIndex } from './search.ts';
import { BindingTable, bindCapabilities } from './table.ts';
import { worldDeclarations } from './world.ts';

export class CompiledCatalog {
  readonly table: BindingTable;
  readonly bindings: readonly Binding[];
  #index: SearchIndex | undefined;

  constructor(catalog: Catalog) {
    this.table = new BindingTable(bindCapabilities(catalog));
    this.bindings = this.table.all.map((bound) => bound.binding);
  }

  /** What the program is checked against. */
  declarationsFor(code: string): string {
    return [worldDeclarations, ...filesFor(code, this.table.all).map((file) => file.text)].join('\n');
  }

  get index(): SearchIndex {
    this.#index ??= new SearchIndex(this.table.all);
    return this.#index;
  }
}

export function compileCatalog(catalog: Catalog): CompiledCatalog {
  return new CompiledCatalog(catalog);
}
