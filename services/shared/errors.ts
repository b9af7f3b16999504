/**
 * The one expected failure of the services. Edges map it to a gRPC status or an HTTP problem once;
 * `cause` goes to the log and never over the wire. Messages name what is wrong and how to put it right,
 * and never hold a secret, a program, arguments or a result.
 */
export type AppErrorCode =
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'PERMISSION_DENIED'
  | 'UNAUTHENTICATED'
  | 'FAILED_PRECONDITION'
  | 'ABORTED'
  | 'RESOURCE_EXHAUSTED'
  | 'CANCELLED'
  | 'UNAVAILABLE'
  | 'INTERNAL';

/** A field of a request that is wrong: `field` is its path ("start.code"), `description` the fix. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: AppErrorCode;
  /** Whether the same request may succeed later, unchanged. */
  readonly retryable: boolean;
  readonly violations: readonly FieldViolation[];

  constructor(
    code: AppErrorCode,
    message: string,
    options: { cause?: unknown; retryable?: boolean; violations?: readonly FieldViolation[] } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? (code === 'UNAVAILABLE' || code === 'ABORTED');
    this.violations = options.violations ?? [];
  }
}

/** A request with a field that is wrong. */
export function invalidField(field: string, description: string): AppError {
  return new AppError('INVALID_ARGUMENT', `${field}: ${description}`, {
    violations: [{ field, description }],
  });
}
