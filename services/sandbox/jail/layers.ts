/** The layers of the lock by name, in the order in which a child puts them on. */

/**
 * held      it is on, and the kernel said so
 * absent    this host does not have it
 * off       a setting turned it off
 */
export type LayerState = 'held' | 'absent' | 'off';

export interface LayerReport {
  readonly name: LayerName;
  readonly state: LayerState;
  /** What was seen, or why it is missing. */
  readonly detail: string;
}

/** Whether a production start needs a layer. */
export const layers = {
  /** A process of its own for each attempt. */
  'fresh-process': { required: true },
  /** Nothing in the environment but TZ and LANG; no descriptor but the socket; no signal handler. */
  environment: { required: true },
  /** The engine makes no machine code. */
  jitless: { required: false },
  /** Neither root nor any capability. */
  identity: { required: false },
  /** Memory, size of files, core dumps, stack. */
  limits: { required: true },
  /** The kernel ends it when its processor time is used up. */
  'processor-budget': { required: true },
  /** No gain of privileges; no tracing; gone with its parent. */
  'no-new-privileges': { required: true },
  /** No file, no port, no signal or abstract socket of others. */
  landlock: { required: false },
  /** No new descriptor of any kind. */
  'no-descriptors': { required: true },
  /** No system call but those of the policy. */
  seccomp: { required: true },
} as const satisfies Readonly<Record<string, { readonly required: boolean }>>;

export type LayerName = keyof typeof layers;

export const layerNames = Object.keys(layers) as readonly LayerName[];

/** Layers that are required and do not hold. */
export function missing(reports: readonly LayerReport[]): readonly LayerReport[] {
  return layerNames.flatMap((name): readonly LayerReport[] => {
    if (!layers[name].required) return [];
    const report = reports.find((candidate) => candidate.name === name);
    if (report === undefined) return [{ name, state: 'absent', detail: 'not reported' }];
    return report.state === 'held' ? [] : [report];
  });
}

/** The report of a process without a lock. */
export function unlocked(detail: string): readonly LayerReport[] {
  return layerNames.map((name) =>
    name === 'fresh-process' || name === 'processor-budget'
      ? { name, state: 'held', detail: 'without a lock' }
      : { name, state: 'absent', detail },
  );
}
