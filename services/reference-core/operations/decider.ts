/**
 * Who allows calls. A decider answers at once what needs no person, and puts the rest to a person once a run
 * waits for nothing else.
 */
import type { Source } from '../words.ts';

/** A call that somebody must allow. */
export interface CallToDecide {
  readonly callId: string;
  /** The name the program used: "notes.read_note". */
  readonly binding: string;
  readonly source: Source;
  readonly argumentsJson: string;
}

export type Verdict = { readonly tag: 'Allow' } | { readonly tag: 'Deny'; readonly message: string };
export type Decision = Verdict | { readonly tag: 'Ask' };

/** What a person needs to know to decide. */
export interface Question {
  readonly runId: string;
  /** The program that asks. */
  readonly code: string;
  /** Every call that waits, in the order of issue. */
  readonly calls: readonly CallToDecide[];
}

export interface Decider {
  /** Decides without a person. */
  decide(call: CallToDecide): Decision;
  /**
   * Puts waiting calls to a person: one verdict for each, in order. Undefined: there is nobody to ask now, and
   * the run goes on waiting.
   */
  ask(question: Question, signal: AbortSignal): Promise<readonly Verdict[] | undefined>;
}
