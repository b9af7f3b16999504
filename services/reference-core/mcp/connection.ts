/**
 * One connected MCP server: what it offers, and its calls.
 *
 * N1  A call is sent at most once. What was not sent may be sent again by the caller; what was sent and lost
 *     is OutcomeUnknown.
 * N2  Roots and sampling are never declared (a server may replace its directories by roots), elicitation only
 *     when there is somebody to answer.
 * N3  A server that went away is started again by the next call, not before.
 */
import { type RequestOptions, SdkHttpError, UrlElicitationRequiredError } from '@modelcontextprotocol/client';
import { parseTemplate } from 'url-template';
import type { Connection } from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import { AppError } from '../../shared/errors.ts';
import { appLimits, callRanges } from '../../shared/limits.ts';
import { utf8Bytes } from '../../shared/text.ts';
import { unreachable } from '../../shared/unreachable.ts';
import type { CapabilityKind, Outcome } from '../words.ts';
import { failed, failedOutcome, NotReached } from './call-error.ts';
import type { ServerConfig } from './config.ts';
import { reasonOf } from './connect-problem.ts';
import { Gate } from './gate.ts';
import { isObject, type JsonObject, rawRequest } from './raw-request.ts';
import { type ClientAnswers, Session } from './session.ts';

export interface ConnectionOptions {
  readonly answers?: ClientAnswers;
  /** From starting or dialling a server to the end of its handshake, 30 s by default. */
  readonly connectTimeoutMs?: number;
  /** A call without a sign of life, 60 s by default. */
  readonly callTimeoutMs?: number;
}

/** What is to be called. */
export interface AppCall {
  readonly kind: CapabilityKind;
  /** The app's own name: a tool or prompt, a URI, a URI template. */
  readonly name: string;
  readonly argumentsJson: string;
  /** Names the operation to answer when the app needs more input. */
  readonly operationId: string;
}

export class AppConnection {
  readonly name: string;
  readonly #server: ServerConfig;
  readonly #options: ConnectionOptions;
  readonly #gate = new Gate(appLimits.callsInFlightMax);
  readonly #stopped = new AbortController();
  #session: Promise<Session> | undefined;

  constructor(server: ServerConfig, options: ConnectionOptions = {}) {
    this.name = server.name;
    this.#server = server;
    this.#options = options;
  }

  /** What the server offers now; connects if it must. Throws AppError UNAVAILABLE that names the server. */
  async catalog(): Promise<Connection> {
    try {
      const session = await this.#connected();
      return await session.catalog(this.#stopped.signal);
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw new AppError('UNAVAILABLE', `MCP server "${this.name}": ${reasonOf(cause)}`, { cause });
    }
  }

  /** Performs one call. Never throws: a failure is an outcome. */
  async perform(call: AppCall): Promise<Outcome> {
    try {
      return await this.#gate.run(() => this.#send(call));
    } catch (error) {
      // The app wants a person to visit an address first.
      if (error instanceof UrlElicitationRequiredError) return inputRequired(call);
      return failedOutcome(error, call.kind);
    }
  }

  /** Ends the session and the process. Calls that are under way end as OutcomeUnknown. Idempotent. */
  async close(): Promise<void> {
    this.#stopped.abort(new Error('the connection was closed'));
    const session = await this.#session?.catch(() => undefined);
    await session?.end();
  }

  async #send(call: AppCall): Promise<Outcome> {
    const input: unknown = JSON.parse(call.argumentsJson);
    if (!isObject(input)) return failed('InvalidArguments', 'the arguments must be an object');
    const { method, params } = requestOf(call, input);
    let session: Session;
    try {
      session = await this.#connected();
    } catch (cause) {
      throw new NotReached(reasonOf(cause), { cause });
    }
    const result = await rawRequest(session.client, method, params, this.#requestOptions()).catch(
      async (error) => {
        // A server that was restarted knows the session no more, and says 404 or 400: the next call starts another.
        if (error instanceof SdkHttpError && [400, 404].includes(error.status)) await session.end();
        throw error;
      },
    );
    if ((result as { readonly resultType?: unknown }).resultType === 'input_required') {
      return inputRequired(call);
    }
    const valueJson = JSON.stringify(result);
    if (utf8Bytes(valueJson) > callRanges.resultBytesMax.max) {
      return failed(
        'ResultTooLarge',
        `the result is ${utf8Bytes(valueJson)} bytes long; at most ${callRanges.resultBytesMax.max} are allowed`,
      );
    }
    return { tag: 'Completed', valueJson };
  }

  #requestOptions(): RequestOptions {
    return {
      timeout: this.#options.callTimeoutMs ?? appLimits.callTimeoutMs,
      maxTotalTimeout: appLimits.callTotalTimeoutMs,
      resetTimeoutOnProgress: true,
      onprogress: () => {},
      allowInputRequired: true,
    };
  }

  #connected(): Promise<Session> {
    if (this.#stopped.signal.aborted) return Promise.reject(new Error('the connection was closed'));
    if (this.#session === undefined) {
      const opened: Promise<Session> = Session.open(
        this.#server,
        {
          answers: this.#options.answers ?? {},
          timeoutMs: this.#options.connectTimeoutMs ?? appLimits.connectTimeoutMs,
        },
        this.#stopped.signal,
        // An end that comes late must not forget the session that came after.
        () => {
          if (this.#session === opened) this.#session = undefined;
        },
      );
      this.#session = opened;
    }
    return this.#session;
  }
}

function inputRequired({ operationId }: AppCall): Outcome {
  return { tag: 'InputRequired', operationId };
}

function requestOf(call: AppCall, input: JsonObject): { method: string; params: Record<string, unknown> } {
  switch (call.kind) {
    case 'tool':
      return { method: 'tools/call', params: { name: call.name, arguments: input } };
    case 'prompt':
      return { method: 'prompts/get', params: { name: call.name, arguments: input } };
    case 'resource':
      return { method: 'resources/read', params: { uri: call.name } };
    case 'resourceTemplate':
      return {
        method: 'resources/read',
        params: { uri: parseTemplate(call.name).expand(variablesOf(input)) },
      };
    default:
      return unreachable(call.kind);
  }
}

type Variables = Parameters<ReturnType<typeof parseTemplate>['expand']>[0];

/** Objects inside lists and objects have no form in a URI; they are written as JSON. */
function variablesOf(input: JsonObject): Variables {
  const plain = (value: unknown): string | number | boolean | null =>
    value !== null && typeof value === 'object'
      ? JSON.stringify(value)
      : (value as string | number | boolean | null);
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      if (Array.isArray(value)) return [name, value.map(plain)];
      if (isObject(value)) {
        return [name, Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))];
      }
      return [name, plain(value)];
    }),
  );
}
