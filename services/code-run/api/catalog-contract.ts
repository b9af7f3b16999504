/** What the edge asks of declarations. */
import { AppError } from '../../shared/errors.ts';
import type { CompiledCatalog } from '../bindings/compile.ts';
import type { Binding } from '../core/model.ts';

/** A binding with the line that says what it does. */
export interface SummarizedBinding {
  readonly binding: Binding;
  readonly summary: string;
}

export interface DescribeQuery {
  readonly query: string;
  readonly connection: string;
  readonly binding: string;
  readonly textBytesMax: number;
}

export interface Description {
  readonly text: string;
  readonly bindings: readonly SummarizedBinding[];
  /** How many more matched. */
  readonly leftOut: number;
}

export function describeBindings(_compiled: CompiledCatalog, _query: DescribeQuery): Description {
  throw new AppError('UNAVAILABLE', 'declarations are not there yet');
}

export function summariesOf(compiled: CompiledCatalog): readonly SummarizedBinding[] {
  return compiled.bindings.map((binding) => ({ binding, summary: '' }));
}
