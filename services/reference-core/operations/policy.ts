/**
 * What may be called without asking, as a file says.
 *
 *   { "default": "readOnly",
 *     "connections": { "filesystem": { "read_*": "allow", "write_file": "deny", "*": "ask" } } }
 *
 * P1  The rule whose pattern says most about the name wins: one without "*", then the one with the most other
 *     characters.
 * P2  Without a rule the default decides. "readOnly" (the default's default) allows what says of itself that it
 *     changes nothing (resources and prompts do), and asks about the rest.
 */
import { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import { parseJsonFile } from '../../shared/json.ts';
import { unreachable } from '../../shared/unreachable.ts';
import type { Source } from '../words.ts';
import type { CallToDecide, Decider, Decision, Question, Verdict } from './decider.ts';

const rule = z.enum(['allow', 'ask', 'deny'], { error: 'must be "allow", "ask" or "deny"' });
const fallback = z.enum(['readOnly', 'allow', 'ask', 'deny'], {
  error: 'must be "readOnly", "allow", "ask" or "deny"',
});
const file = z.strictObject(
  {
    default: fallback.default('readOnly'),
    connections: z.record(z.string(), z.record(z.string(), rule)).default({}),
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `knows no "${issue.keys.join('", "')}"` : undefined,
  },
);

export type Rule = z.infer<typeof rule>;
export type Policy = z.infer<typeof file>;

/** Without a file: read-only hints. */
export const hintPolicy: Policy = { default: 'readOnly', connections: {} };

/** Nothing is asked about. */
export const allowPolicy: Policy = { default: 'allow', connections: {} };

/** Parses the text of a policy. `origin` names it in errors. */
export function parsePolicy(json: string, origin: string): Policy {
  const parsed = file.safeParse(parseJsonFile(json, origin));
  if (parsed.success) return parsed.data;
  const violations = parsed.error.issues.map(({ path, message }) => ({
    field: path.join('.'),
    description: message,
  }));
  const lines = violations.map(({ field, description }) =>
    field === '' ? description : `${field}: ${description}`,
  );
  throw new AppError('INVALID_ARGUMENT', `${origin}: ${lines.join('; ')}`, { violations });
}

/** The rule for a capability; `readOnly`: it says of itself that it changes nothing. */
export function ruleFor(policy: Policy, source: Source, readOnly: boolean): Rule {
  const rules = Object.entries(policy.connections[source.connectionName] ?? {});
  const fitting = rules.filter(([pattern]) => matches(pattern, source.name));
  const best = fitting.toSorted(([a], [b]) => weight(b) - weight(a))[0];
  if (best !== undefined) return best[1];
  if (policy.default === 'readOnly') return readOnly ? 'allow' : 'ask';
  return policy.default;
}

function matches(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(name);
}

function weight(pattern: string): number {
  return pattern.includes('*') ? pattern.replaceAll('*', '').length : Number.POSITIVE_INFINITY;
}

/** Decides by a policy and puts the rest to a person. */
export class PolicyDecider implements Decider {
  readonly #policy: Policy;
  readonly #isReadOnly: (source: Source) => boolean;
  readonly #ask: Decider['ask'];

  constructor(policy: Policy, isReadOnly: (source: Source) => boolean, ask: Decider['ask']) {
    this.#policy = policy;
    this.#isReadOnly = isReadOnly;
    this.#ask = ask;
  }

  decide({ source, binding }: CallToDecide): Decision {
    const found = ruleFor(this.#policy, source, this.#isReadOnly(source));
    switch (found) {
      case 'allow':
        return { tag: 'Allow' };
      case 'ask':
        return { tag: 'Ask' };
      case 'deny':
        return { tag: 'Deny', message: `the policy does not allow ${binding}` };
      default:
        return unreachable(found);
    }
  }

  ask(question: Question, signal: AbortSignal): Promise<readonly Verdict[] | undefined> {
    return this.#ask(question, signal);
  }
}
