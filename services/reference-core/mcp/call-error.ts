/** Turns what an MCP client throws into what a program gets as AppCallFailed. */
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { limits } from '../../shared/limits.ts';
import { truncateUtf8 } from '../../shared/text.ts';
import type { CallFailureReason, CapabilityKind, Outcome } from '../words.ts';

export type FailedOutcome = Extract<Outcome, { tag: 'Failed' }>;

/** The server process or the address could not be reached: the call was not sent. */
export class NotReached extends Error {
  override readonly name = 'NotReached';
}

export function failedOutcome(error: unknown, kind: CapabilityKind): FailedOutcome {
  const [reason, message] = describe(error, kind);
  return failed(reason, message);
}

export function failed(reason: CallFailureReason, message: string): FailedOutcome {
  return { tag: 'Failed', reason, message: truncateUtf8(message, limits.messageBytesMax) };
}

function describe(error: unknown, kind: CapabilityKind): [CallFailureReason, string] {
  if (error instanceof NotReached) return ['Unavailable', error.message];
  if (error instanceof ProtocolError) return [protocolReason(error, kind), error.message];
  if (error instanceof SdkError) return sdkFailure(error);
  // fetch says "fetch failed" and keeps why in its cause.
  if (error instanceof TypeError && error.cause instanceof Error) {
    return ['Unavailable', `the app could not be reached: ${error.cause.message}`];
  }
  return ['Internal', error instanceof Error ? error.message : String(error)];
}

function protocolReason(error: ProtocolError, kind: CapabilityKind): CallFailureReason {
  if (error instanceof ResourceNotFoundError) return 'NotFound';
  switch (error.code) {
    case ProtocolErrorCode.MethodNotFound:
    case ProtocolErrorCode.ResourceNotFound:
      return 'NotFound';
    case ProtocolErrorCode.InvalidParams:
      // A read has no other parameter than the URI.
      return kind === 'resource' || kind === 'resourceTemplate' ? 'NotFound' : 'InvalidArguments';
    default:
      return 'ToolError';
  }
}

function sdkFailure(error: SdkError): [CallFailureReason, string] {
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return ['Timeout', 'the app did not answer in time'];
    case SdkErrorCode.ConnectionClosed:
      return ['OutcomeUnknown', 'the connection to the app ended before it answered'];
    case SdkErrorCode.NotConnected:
    case SdkErrorCode.SendFailed:
      return ['Unavailable', 'the app could not be reached'];
    case SdkErrorCode.InvalidResult:
      return ['ToolError', error.message];
    default:
      return error instanceof SdkHttpError
        ? ['Unavailable', `the app's server answered with HTTP status ${error.status ?? 'unknown'}`]
        : ['Internal', error.message];
  }
}
