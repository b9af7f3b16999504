/** Errors as problem details (RFC 9457): the same codes and texts as on gRPC, with the wrong fields. */
import { STATUS_CODES } from 'node:http';
import type { AppError, AppErrorCode } from '../../../shared/errors.ts';

const httpStatuses = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  ABORTED: 409,
  FAILED_PRECONDITION: 409,
  RESOURCE_EXHAUSTED: 429,
  CANCELLED: 499,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const satisfies Record<AppErrorCode, number>;

export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The gRPC code of the same error. */
  readonly code: string;
  /** The fields that are wrong, and what they should be. */
  readonly errors?: readonly { readonly field: string; readonly detail: string }[];
}

export function problemOf(error: AppError): Problem {
  const errors = error.violations.map(({ field, description }) => ({ field, detail: description }));
  const shown = problem(httpStatuses[error.code], error.code, error.message);
  return errors.length === 0 ? shown : { ...shown, errors };
}

/** A problem of HTTP itself: a path that is not there, a body that cannot be read. */
export function httpProblem(status: number, detail: string): Problem {
  return problem(status, codeOfStatus(status), detail);
}

function problem(status: number, code: string, detail: string): Problem {
  return { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail, code };
}

function codeOfStatus(status: number): string {
  const found = Object.entries(httpStatuses).find(([, candidate]) => candidate === status);
  return found?.[0] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');
}
