/**
 * Checks of request fields. Every field that is wrong is named, with what it should be, in one
 * INVALID_ARGUMENT; a message never repeats what was sent.
 */
import { AppError, type FieldViolation } from '../../shared/errors.ts';
import { limits } from '../../shared/limits.ts';
import { utf8Bytes } from '../../shared/text.ts';

export class Fields {
  readonly #violations: FieldViolation[] = [];

  wrong(field: string, description: string): void {
    // More than a status can carry help nobody, and a catalog has many fields.
    if (this.#violations.length < limits.statusViolationsMax) this.#violations.push({ field, description });
  }

  /** An id or name that the caller gives: 1 to `idBytesMax` bytes, no control characters. */
  id(field: string, value: string): void {
    this.text(field, value, 1, limits.idBytesMax);
    if (/\p{Cc}/u.test(value)) this.wrong(field, 'must not hold control characters');
  }

  text(field: string, value: string, bytesMin: number, bytesMax: number): void {
    if (value.length > bytesMax || utf8Bytes(value) > bytesMax) {
      this.wrong(field, `must be at most ${bytesMax} bytes of UTF-8`);
    } else if (value.length < bytesMin) {
      this.wrong(field, bytesMin === 1 ? 'must not be empty' : `must be at least ${bytesMin} bytes of UTF-8`);
    }
  }

  range(field: string, value: number, min: number, max: number): void {
    if (!Number.isInteger(value) || value < min || value > max) {
      this.wrong(field, `must be a whole number from ${min} to ${max}`);
    }
  }

  count(field: string, value: number, max: number): void {
    if (value > max) this.wrong(field, `must hold at most ${max}, holds ${value}`);
  }

  /** Throws if any field was wrong. */
  done(): void {
    const [first] = this.#violations;
    if (first === undefined) return;
    throw new AppError('INVALID_ARGUMENT', `${first.field}: ${first.description}`, {
      violations: this.#violations,
    });
  }
}

/** A run id is a UUID; anything else cannot name a run, so it is answered like an unknown one. */
export function isRunId(value: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(value);
}
