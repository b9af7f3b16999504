/** Prepares a catalog: its table of names, and what can be asked of it. */
import type { Catalog } from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import { AppError } from '../../shared/errors.ts';
import { bindCatalog } from '../bindings/table.ts';
import type { CatalogTools } from './catalog-contract.ts';

export function catalogTools(catalog: Catalog): CatalogTools {
  const bindings = bindCatalog(catalog);
  const notYet = () => {
    throw new AppError('UNAVAILABLE', 'declarations are not there yet');
  };
  return {
    bindings,
    summaries: () => bindings.map((binding) => ({ binding, summary: '' })),
    describe: notYet,
    check: notYet,
  };
}
