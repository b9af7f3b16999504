/** A job as it comes over the wire: what is outside its limits is refused by its field. */
import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { type Job, JobBindingSchema, JobSchema } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { checkJob } from '../../services/sandbox/grpc/job.ts';
import { callRanges, limits, settingRanges } from '../../services/shared/limits.ts';
import { jobOf } from './kit.ts';

const { callsInFlightMax: _, ...sandboxRanges } = callRanges; // The sandbox knows of no core.
const ranges = { ...settingRanges, ...sandboxRanges };

const jobWith = (more: Partial<Job>): Job => Object.assign(create(JobSchema, jobOf('return 1')), more);

function jobWithLimit(name: string, value: number) {
  const job = jobWith({});
  if (job.limits === undefined) throw new Error('no limits');
  return Object.assign(job, { limits: Object.assign(job.limits, { [name]: value }) });
}

describe('a job', () => {
  test.each(Object.entries(ranges))(
    'with %s is taken at both ends of its range, and refused past them',
    (name, range) => {
      const field = `job.limits.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
      for (const value of [range.min, range.max])
        expect(() => checkJob(jobWithLimit(name, value))).not.toThrow();
      for (const value of [range.min - 1, range.max + 1]) {
        expect(() => checkJob(jobWithLimit(name, value))).toThrow(
          `${field}: must be ${range.min} to ${range.max}`,
        );
      }
    },
  );

  test('may have a program as large as the limit, and one byte past it is refused', () => {
    const program = (bytes: number) => jobWith({ program: Buffer.alloc(bytes, ' ') });
    expect(() => checkJob(program(limits.programBytesMax))).not.toThrow();
    expect(() => checkJob(program(limits.programBytesMax + 1))).toThrow('job.program: at most 2097152 bytes');
  });

  test('may name what is as long as the limit, and one byte past it is refused', () => {
    const binding = (bytes: number): Job =>
      create(JobSchema, jobOf('return 1', { bindings: [`notes.${'x'.repeat(bytes - 'notes.'.length)}`] }));
    expect(() => checkJob(binding(limits.bindingBytesMax))).not.toThrow();
    expect(() => checkJob(binding(limits.bindingBytesMax + 1))).toThrow(
      'job.bindings[0]: a name of at most 16384 bytes',
    );
  });

  test('may hold as much as the limit in all, and one byte past it is refused', () => {
    const filled = (bytes: number): Job => {
      const raw = { connectionRaw: 'x'.repeat(8000) };
      const bindings = Array.from({ length: 2000 }, () => create(JobBindingSchema, raw));
      const { realmJobJson } = checkJob(jobWith({ bindings }));
      const program = Buffer.alloc(bytes - 4 - Buffer.byteLength(realmJobJson), ' ');
      return jobWith({ bindings, program });
    };
    expect(() => checkJob(filled(limits.jobBytesMax))).not.toThrow();
    expect(() => checkJob(filled(limits.jobBytesMax + 1))).toThrow(
      'job: program and names together may take at most 16777216 bytes, take 16777217',
    );
  });

  test.each([
    ['a program that is no UTF-8', { program: Buffer.from([0xff]) }, 'job.program: must be UTF-8'],
    ['a seed that is too short', { seed: Buffer.alloc(15) }, 'job.seed: must be 16 bytes'],
    ['a time past all dates', { createdAtMs: 8_640_000_000_000_001n }, 'job.created_at_ms: is no date'],
  ])('with %s is refused', (_name, more, message) => {
    expect(() => checkJob(jobWith(more))).toThrow(message);
  });

  test('without limits is refused', () => {
    const job = jobWith({});
    delete job.limits;
    expect(() => checkJob(job)).toThrow('job.limits: is missing');
  });
});
