/** Waiting calls as a form that a person fills in, and the filled form as verdicts. */
import { z } from 'zod';
import { truncateUtf8 } from '../../shared/text.ts';
import type { CallToDecide, Verdict } from '../operations/decider.ts';

/** What a form shows of the arguments of one call. */
const argumentsBytesMax = 2048;

/** JSON Schema as elicitation knows it: an object of plain fields. */
export interface DecisionForm {
  readonly message: string;
  readonly requestedSchema: {
    readonly type: 'object';
    readonly properties: Record<string, { type: 'string'; title: string; enum: string[]; default: string }>;
    readonly required: string[];
  };
}

const choices = ['deny', 'allow'];

export function decisionForm(calls: readonly CallToDecide[]): DecisionForm {
  const lines = calls.map(
    ({ binding, argumentsJson }, index) =>
      `${index + 1}. ${binding} ${truncateUtf8(argumentsJson, argumentsBytesMax)}`,
  );
  const fields = calls.map(({ binding }, index) => [
    fieldOf(index),
    { type: 'string' as const, title: `${index + 1}. ${binding}`, enum: choices, default: 'deny' },
  ]);
  return {
    message: `A program wants to make ${calls.length === 1 ? 'a call' : `${calls.length} calls`}:\n${lines.join('\n')}`,
    requestedSchema: {
      type: 'object',
      properties: Object.fromEntries(fields),
      required: calls.map((_, index) => fieldOf(index)),
    },
  };
}

const filled = z.discriminatedUnion('action', [
  z.object({ action: z.literal('accept'), content: z.record(z.string(), z.unknown()) }),
  z.object({ action: z.literal('decline') }),
  z.object({ action: z.literal('cancel') }),
]);

/** A verdict for each call; undefined: the person did not decide. What is not plainly allowed is denied. */
export function verdictsOf(response: unknown, calls: readonly CallToDecide[]): Verdict[] | undefined {
  const parsed = filled.safeParse(response);
  if (!parsed.success || parsed.data.action === 'cancel') return undefined;
  const denied: Verdict = { tag: 'Deny', message: 'the person said no' };
  if (parsed.data.action === 'decline') return calls.map(() => denied);
  const { content } = parsed.data;
  return calls.map((_, index) => (content[fieldOf(index)] === 'allow' ? { tag: 'Allow' } : denied));
}

function fieldOf(index: number): string {
  return `call_${index + 1}`;
}
