/** One trace from the core through both services, and nothing of the callers in it. */
import { context, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTracing } from '../../services/shared/telemetry-sdk.ts';
import { completed, play, start } from './core.ts';
import { type Services, startServices } from './services.ts';

const exporter = new InMemorySpanExporter();
let services: Services;
let stopTracing: () => Promise<void>;
beforeAll(async () => {
  stopTracing = startTracing('test', '0', new SimpleSpanProcessor({ exporter }));
  services = await startServices();
  await services.enable();
});
afterAll(async () => {
  await services.stop();
  await stopTracing();
});

test('a run is one trace: core, CodeRunService, SandboxService, each the child of the one before', async () => {
  const secret = 'a-secret-of-the-program';
  const root = trace.getTracer('core').startSpan('turn');
  await context.with(trace.setSpan(context.active(), root), () =>
    play(services.core, start(`return await apps.notes.send({ text: "${secret}" })`), () =>
      completed(secret),
    ),
  );
  root.end();
  const { traceId } = root.spanContext();
  const spans = exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId);
  const chain: string[] = [];
  for (let parent = root.spanContext().spanId; ; ) {
    const child = spans.find((span) => span.parentSpanContext?.spanId === parent);
    if (child === undefined) break;
    chain.push(`${child.kind} ${child.name} ${child.attributes['rpc.response.status_code']}`);
    parent = child.spanContext().spanId;
  }
  // Kinds: 1 is a server's span, 2 a client's.
  expect(chain).toEqual([
    '2 openbot.codemode.v1.CodeRunService/RunCode OK',
    '1 openbot.codemode.v1.CodeRunService/RunCode OK',
    expect.stringMatching(/^2 openbot\.codemode\.v1\.SandboxService\/Execute (OK|CANCELLED)$/),
    expect.stringMatching(/^1 openbot\.codemode\.v1\.SandboxService\/Execute (OK|CANCELLED)$/),
  ]);
  expect(
    JSON.stringify(
      spans.map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
    ),
  ).not.toContain(secret);
});

test('a call that fails ends its span as an error, with its code', async () => {
  await services.core.getCodeRun({ runId: 'x' }).catch(() => {});
  const ended = exporter.getFinishedSpans().filter(({ name }) => name.endsWith('/GetCodeRun'));
  expect(
    ended.map(({ attributes, status }) => [attributes['rpc.response.status_code'], status.code]),
  ).toEqual([
    ['NOT_FOUND', 2],
    ['NOT_FOUND', 2],
  ]);
});
