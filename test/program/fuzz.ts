/** How long properties are tried: quickly by default, as often as FUZZ_RUNS says for a longer search. */
const runs = process.env['FUZZ_RUNS'];

export const fuzzRuns = (byDefault: number) => (runs === undefined ? byDefault : Number(runs));

export const fuzzTimeoutMs = runs === undefined ? 30_000 : 3_600_000;
