/** Prepares a catalog: its table of names, and what can be asked of it. */
import type { Catalog } from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import { AppError } from '../../shared/errors.ts';
import { compileCatalog } from '../bindings/compile.ts';
import { describeBindings, summaries } from '../bindings/describe.ts';
import type { CatalogTools } from './catalog-contract.ts';

export function catalogTools(catalog: Catalog): CatalogTools {
  const compiled = compileCatalog(catalog);
  return {
    bindings: compiled.bindings,
    summaries: () => summaries(compiled),
    describe: (query) => describeBindings(compiled, query),
    check: () => {
      throw new AppError('UNAVAILABLE', 'the check of programs is not there yet');
    },
  };
}
