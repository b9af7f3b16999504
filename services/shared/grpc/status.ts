/**
 * The one mapping between AppError and a gRPC status, for every transport.
 *
 * S1  Only the message and the field violations of an AppError cross the wire; `cause` and anything that is
 *     not an AppError are logged and become INTERNAL with a fixed text.
 * S2  A status fits the header limits of every client library: text and details are cut to their limits.
 */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { anyPack, anyUnpack } from '@bufbuild/protobuf/wkt';
import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { type BadRequest, BadRequestSchema } from '../../../gen/google/rpc/error_details_pb.js';
import { StatusSchema } from '../../../gen/google/rpc/status_pb.js';
import { AppError, type AppErrorCode, type FieldViolation } from '../errors.ts';
import { limits } from '../limits.ts';
import { truncateUtf8 } from '../text.ts';

const detailsKey = 'grpc-status-details-bin';

/** Every code that a peer can answer with, by its name in the gRPC specification. */
export type RpcCode = keyof typeof status;

/** A call that failed, as a client sees it. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: RpcCode;
  readonly violations: readonly FieldViolation[];

  constructor(code: RpcCode, message: string, violations: readonly FieldViolation[] = [], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.violations = violations;
  }
}

/** What a server may say about an error, whatever was thrown. */
export function publicError(error: unknown): AppError {
  return error instanceof AppError ? error : new AppError('INTERNAL', 'internal error', { cause: error });
}

export function statusText(error: AppError): string {
  return truncateUtf8(error.message, limits.statusTextBytesMax);
}

export function badRequest(error: AppError): BadRequest | undefined {
  if (error.violations.length === 0) return undefined;
  const fieldViolations = error.violations.slice(0, limits.statusViolationsMax).map((violation) => ({
    field: truncateUtf8(violation.field, limits.statusViolationBytesMax),
    description: truncateUtf8(violation.description, limits.statusViolationBytesMax),
  }));
  return create(BadRequestSchema, { fieldViolations });
}

/** The status of a failed call as grpc-js sends it. */
export function toStatus(error: AppError): StatusObject {
  const code = grpcCode(error.code);
  const details = statusText(error);
  const metadata = new Metadata();
  const violations = badRequest(error);
  if (violations !== undefined) {
    const value = create(StatusSchema, {
      code,
      message: details,
      details: [anyPack(BadRequestSchema, violations)],
    });
    metadata.set(detailsKey, Buffer.from(toBinary(StatusSchema, value)));
  }
  return { code, details, metadata };
}

/** The error of a failed call as grpc-js receives it. */
export function fromServiceError(error: ServiceError): RpcError {
  const code = (status[error.code] ?? 'UNKNOWN') as RpcCode;
  return new RpcError(code, error.details, violationsOf(error), error);
}

export function grpcCode(code: AppErrorCode): number {
  return status[code];
}

function violationsOf(error: ServiceError): readonly FieldViolation[] {
  const [bytes] = error.metadata?.get(detailsKey) ?? [];
  if (!(bytes instanceof Buffer)) return [];
  try {
    return fromBinary(StatusSchema, bytes).details.flatMap(
      (any) =>
        anyUnpack(any, BadRequestSchema)?.fieldViolations.map(({ field, description }) => ({
          field,
          description,
        })) ?? [],
    );
  } catch {
    return []; // Details are an extra: a peer that sends broken ones has still failed the call.
  }
}
