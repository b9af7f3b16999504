/** A job as it comes over the wire, checked, as the attempt takes it. */
import { isUtf8 } from 'node:buffer';
import { CallFailureReason } from '../../../gen/openbot/codemode/v1/code_run_pb.js';
import type { DeliverOutcome, Job } from '../../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { invalidField } from '../../shared/errors.ts';
import { callRanges, limits, settingRanges } from '../../shared/limits.ts';
import type { AttemptJob, AttemptOutcome } from '../pool/attempt.ts';
import { type RealmJob, settleKind } from '../realm/contract.ts';

const seedBytes = 16;
/** Of a text, before it in its frame. */
const lengthBytes = 4;

export function checkJob(job: Job): AttemptJob {
  if (job.program.length > limits.programBytesMax) {
    throw invalidField('job.program', `at most ${limits.programBytesMax} bytes`);
  }
  if (!isUtf8(job.program)) throw invalidField('job.program', 'must be UTF-8');
  if (job.seed.length !== seedBytes) throw invalidField('job.seed', `must be ${seedBytes} bytes`);
  if (job.limits === undefined) throw invalidField('job.limits', 'is missing');
  const { timeoutMs, memoryMb, outputBytes, callsMax, argumentsBytesMax, resultBytesMax } = job.limits;
  for (const [index, { connection, capability }] of job.bindings.entries()) {
    if (Buffer.byteLength(connection) + 1 + Buffer.byteLength(capability) <= limits.bindingBytesMax) continue;
    throw invalidField(`job.bindings[${index}]`, `a name of at most ${limits.bindingBytesMax} bytes`);
  }
  inRange('timeout_ms', timeoutMs, settingRanges.timeoutMs);
  inRange('memory_mb', memoryMb, settingRanges.memoryMb);
  inRange('output_bytes', outputBytes, settingRanges.outputBytes);
  inRange('calls_max', callsMax, callRanges.callsMax);
  inRange('arguments_bytes_max', argumentsBytesMax, callRanges.argumentsBytesMax);
  inRange('result_bytes_max', resultBytesMax, callRanges.resultBytesMax);
  const realmJob: RealmJob = {
    createdAtMs: createdAt(job.createdAtMs),
    seed: seedWords(job.seed),
    outputBytes,
    logLineBytesMax: limits.logLineBytesMax,
    messageBytesMax: limits.messageBytesMax,
    callsMax,
    argumentsBytesMax,
    jsonDepthMax: limits.jsonDepthMax,
    bindings: job.bindings.map((b) => [b.connection, b.capability, b.connectionRaw, b.capabilityRaw]),
    columnShifts: job.columnShifts.map((s) => [s.line, s.column, s.length]),
  };
  const realmJobJson = JSON.stringify(realmJob);
  const bytes = lengthBytes + Buffer.byteLength(realmJobJson) + job.program.length;
  if (bytes > limits.jobBytesMax) {
    throw invalidField(
      'job',
      `program and names together may take at most ${limits.jobBytesMax} bytes, take ${bytes}`,
    );
  }
  return {
    program: job.program,
    timeoutMs,
    memoryMb,
    outputBytes,
    callLimits: { callsMax, argumentsBytesMax, resultBytesMax },
    realmJobJson,
  };
}

export function checkOutcome(message: DeliverOutcome): AttemptOutcome {
  const { index, outcome } = message;
  const of = (kind: number, a: string, b = '') => ({ index, kind, a: Buffer.from(a), b: Buffer.from(b) });
  switch (outcome.case) {
    case 'completed':
      return { index, kind: settleKind.completed, a: outcome.value, b: Buffer.alloc(0) };
    case 'failed':
      return of(settleKind.failed, reasonName(outcome.value.reason), outcome.value.message);
    case 'denied':
      return of(settleKind.denied, outcome.value.message);
    case 'inputRequired':
      return of(settleKind.inputRequired, outcome.value.operationId);
    default:
      throw invalidField('outcome', 'says nothing');
  }
}

/** "TOOL_ERROR" as a program reads it: "ToolError". */
function reasonName(reason: CallFailureReason): string {
  const name = CallFailureReason[reason];
  if (name === undefined || reason === CallFailureReason.UNSPECIFIED) {
    throw invalidField('outcome.failed.reason', 'is none that this sandbox knows');
  }
  return name
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join('');
}

function createdAt(ms: bigint): number {
  const dateMax = 8_640_000_000_000_000n;
  if (ms < -dateMax || ms > dateMax) throw invalidField('job.created_at_ms', 'is no date');
  return Number(ms);
}

function seedWords(seed: Uint8Array): readonly [number, number, number, number] {
  const view = new DataView(seed.buffer, seed.byteOffset, seed.byteLength);
  return [view.getUint32(0), view.getUint32(4), view.getUint32(8), view.getUint32(12)];
}

function inRange(limit: string, value: number, range: { readonly min: number; readonly max: number }): void {
  const { min, max } = range;
  if (value < min || value > max) throw invalidField(`job.limits.${limit}`, `must be ${min} to ${max}`);
}
