/**
 * A replay that went another way than the journal: what was recorded, what was attempted, where, how they
 * differ, and why that is likely to be.
 */
import { limits } from '../../shared/limits.ts';
import { truncateUtf8 } from '../../shared/text.ts';
import { unreachable } from '../../shared/unreachable.ts';
import { jsonDifferences } from './json-diff.ts';
import type { CalledEntry } from './ledger.ts';
import type { Binding, IssuedCall, Source } from './model.ts';

export interface AttemptedCall {
  readonly call: IssuedCall;
  /** What the name means in the run's table; undefined if it is not there. */
  readonly source: Source | undefined;
}

export type Divergence =
  /** A call that is not the one recorded at its place. */
  | { readonly tag: 'Other'; readonly recorded: CalledEntry; readonly attempted: AttemptedCall }
  /** A recorded call was not made before the program came to rest, or ended as `ended` says. */
  | { readonly tag: 'Missing'; readonly recorded: CalledEntry; readonly ended: string | undefined }
  /** A call where the outcome of call `before` is recorded, or (undefined) after all that is recorded. */
  | { readonly tag: 'Extra'; readonly attempted: AttemptedCall; readonly before: number | undefined };

/** What else is known of the two attempts. */
export interface MismatchContext {
  readonly bindings: readonly Binding[];
  /** The names as they are now; undefined: not known. */
  readonly currentBindings: readonly Binding[] | undefined;
  /** Of the attempt that recorded, and of this one; empty: not known. */
  readonly recordedFingerprint: string;
  readonly fingerprint: string;
}

export interface Mismatch {
  readonly index: number;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

const differencesMax = 8;

/** Whether a call is not the recorded one; its index is the same. */
export function differsFrom(recorded: CalledEntry, attempted: AttemptedCall): boolean {
  return (
    recorded.binding !== attempted.call.binding ||
    recorded.argumentsJson !== attempted.call.argumentsJson ||
    !sameSource(recorded.source, attempted.source)
  );
}

export function sameSource(one: Source, other: Source | undefined): boolean {
  return (
    other !== undefined &&
    one.connectionId === other.connectionId &&
    one.kind === other.kind &&
    one.name === other.name &&
    one.connectionName === other.connectionName
  );
}

export function describeMismatch(divergence: Divergence, context: MismatchContext): Mismatch {
  const place = 'attempted' in divergence ? divergence.attempted.call : divergence.recorded;
  const lines = [
    `The program did not make the same calls as in an earlier attempt: call ${place.index}` +
      `${place.line > 0 ? `, line ${place.line}` : ''}. Nothing was sent.`,
    ...whatHappened(divergence),
    `Likely cause: ${likelyCause(divergence, context)}`,
  ];
  return {
    index: place.index,
    line: place.line,
    column: place.column,
    message: truncateUtf8(lines.join('\n'), limits.messageBytesMax),
  };
}

function whatHappened(divergence: Divergence): readonly string[] {
  switch (divergence.tag) {
    case 'Other': {
      const { recorded, attempted } = divergence;
      return [
        `Recorded: ${shownCall(recorded, recorded.source)}`,
        `Attempted: ${shownCall(attempted.call, attempted.source)}`,
        'Differences (recorded → attempted):',
        ...differences(recorded, attempted),
      ];
    }
    case 'Missing': {
      const { recorded, ended } = divergence;
      return [
        `Recorded: ${shownCall(recorded, recorded.source)}`,
        `Attempted: no call. ${ended ?? 'The program waits for the outcomes of its calls so far.'}`,
      ];
    }
    case 'Extra': {
      const { attempted, before } = divergence;
      return [
        before === undefined
          ? 'Recorded: no call. The program waited for the outcomes of its calls so far.'
          : `Recorded: no call. The program got the outcome of call ${before} next.`,
        `Attempted: ${shownCall(attempted.call, attempted.source)}`,
      ];
    }
    default:
      return unreachable(divergence);
  }
}

function shownCall(call: IssuedCall | CalledEntry, source: Source | undefined): string {
  const at = call.line > 0 ? `, line ${call.line}` : '';
  return `call ${call.index} to ${call.binding} (${shownSource(source)})${at}`;
}

function shownSource(source: Source | undefined): string {
  if (source === undefined) return 'not a name of this run';
  return `${source.kind} ${source.name} of ${source.connectionId} "${source.connectionName}"`;
}

function differences(recorded: CalledEntry, { call, source }: AttemptedCall): readonly string[] {
  const fields: [field: string, recorded: string, attempted: string][] = [
    ['binding', recorded.binding, call.binding],
    ['source.connectionId', recorded.source.connectionId, source?.connectionId ?? 'nothing'],
    ['source.connectionName', recorded.source.connectionName, source?.connectionName ?? 'nothing'],
    ['source.kind', recorded.source.kind, source?.kind ?? 'nothing'],
    ['source.name', recorded.source.name, source?.name ?? 'nothing'],
  ];
  const inArguments = jsonDifferences(
    'arguments',
    recorded.argumentsJson,
    call.argumentsJson,
    differencesMax,
  );
  return [
    ...fields.filter(([, was, is]) => was !== is).map(([field, was, is]) => `  ${field}: ${was} → ${is}`),
    ...inArguments.differences.map(({ path, recorded: was, attempted: is }) => `  ${path}: ${was} → ${is}`),
    ...(inArguments.more > 0 ? [`  and at least ${inArguments.more} more`] : []),
  ];
}

function likelyCause(divergence: Divergence, context: MismatchContext): string {
  const { recordedFingerprint, fingerprint } = context;
  const causes: string[] = [];
  if (recordedFingerprint !== '' && fingerprint !== '' && recordedFingerprint !== fingerprint) {
    causes.push(
      `the sandbox was updated between the attempts (from ${recordedFingerprint} to ${fingerprint}).`,
    );
  }
  const catalog = catalogChange(divergence, context);
  if (catalog !== undefined) causes.push(catalog);
  if (causes.length === 0) {
    causes.push(
      'the program or the stored run was changed, or the program found a way to depend on ' +
        'something that differs between attempts, such as memory or the depth of the stack.',
    );
  }
  return causes.join(' Also: ');
}

/** What became of the names that the divergence is about. A name keeps its meaning; this only explains. */
function catalogChange(divergence: Divergence, context: MismatchContext): string | undefined {
  if (context.currentBindings === undefined) return undefined;
  const now = new Map(context.currentBindings.map((binding) => [nameOf(binding), binding.source]));
  const names = new Set<string>();
  if ('recorded' in divergence) names.add(divergence.recorded.binding);
  if ('attempted' in divergence) names.add(divergence.attempted.call.binding);
  const changes: string[] = [];
  for (const binding of context.bindings) {
    const name = nameOf(binding);
    if (!names.has(name)) continue;
    const source = now.get(name);
    if (source === undefined) changes.push(`${name} is no longer in it`);
    else if (!sameSource(binding.source, source)) {
      changes.push(`${name} would now mean ${shownSource(source)}`);
    }
  }
  return changes.length === 0
    ? undefined
    : `the catalog changed since the run started: ${changes.join('; ')}. The run keeps the names it started with.`;
}

export function nameOf(binding: Binding): string {
  return `${binding.connection}.${binding.capability}`;
}
