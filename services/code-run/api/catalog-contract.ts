/** What the edge asks of the parts that speak to agents. */
import type { Binding } from '../core/model.ts';
import type { ProgramFailure } from '../runner/contract.ts';

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

/** A catalog, prepared: everything that is asked of it later. */
export interface CatalogTools {
  readonly bindings: readonly Binding[];
  summaries(): readonly SummarizedBinding[];
  describe(query: DescribeQuery): Description;
  /** What is wrong with a program, in the order of the text. */
  check(code: string): readonly ProgramFailure[];
}
