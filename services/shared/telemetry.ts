/**
 * Traces: a span for each request that comes in and for each call that goes out, with the W3C headers between,
 * so that one trace goes from the core through both services. Everything that spans are called is here.
 *
 * T1  A span holds the method and how it ended; never an id, a text or a value of a caller.
 * T2  Without an SDK (telemetry-sdk.ts) all of this costs next to nothing.
 */
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

const tracerName = 'code-mode';

const attributeNames = {
  system: 'rpc.system.name',
  method: 'rpc.method',
  status: 'rpc.response.status_code',
} as const;

export interface ServerSpan {
  /** Runs `work` inside the span: calls that go out in it belong to the same trace. */
  run<T>(work: () => T): T;
  /** Ends the span with the gRPC code of the answer. */
  end(code: string): void;
}

/** Begins the span of a request; `header` gives what the caller sent along. */
export function beginServerSpan(path: string, header: (name: string) => string | undefined): ServerSpan {
  const parent = propagation.extract(ROOT_CONTEXT, header, {
    get: (carrier, name) => carrier(name),
    keys: () => [],
  });
  const span = startSpan(path, SpanKind.SERVER, parent);
  const inside = trace.setSpan(parent, span);
  return { run: (work) => context.with(inside, work), end: (code) => endSpan(span, code) };
}

export interface ClientSpan {
  /** To be sent along. */
  readonly headers: Readonly<Record<string, string>>;
  end(code: string): void;
}

/** Begins the span of a call that goes out, inside the span that is active. */
export function beginClientSpan(path: string): ClientSpan {
  const active = context.active();
  const span = startSpan(path, SpanKind.CLIENT, active);
  const headers: Record<string, string> = {};
  propagation.inject(trace.setSpan(active, span), headers);
  return { headers, end: (code) => endSpan(span, code) };
}

/** The same items, each made inside the span: a generator leaves the span with each of its yields. */
export async function* inSpan<T>(
  span: ServerSpan,
  make: () => AsyncIterable<T>,
): AsyncGenerator<T, void, void> {
  const iterator = span.run(() => make()[Symbol.asyncIterator]());
  try {
    for (;;) {
      const next = await span.run(() => iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await span.run(() => iterator.return?.());
  }
}

function startSpan(path: string, kind: SpanKind, parent: ReturnType<typeof context.active>) {
  const name = path.slice(1);
  const attributes = { [attributeNames.system]: 'grpc', [attributeNames.method]: name };
  return trace.getTracer(tracerName).startSpan(name, { kind, attributes }, parent);
}

function endSpan(span: ReturnType<typeof startSpan>, code: string): void {
  span.setAttribute(attributeNames.status, code);
  if (code !== 'OK') span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
