/** The reference core over both real services and a real MCP server: decisions, resuming, breaks. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CodeRunStatus } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import type { RunObserver } from '../../services/reference-core/client/attempt.ts';
import { ReferenceCore, type RunEnd, type RunRequest } from '../../services/reference-core/client/core.ts';
import { Apps, type SourceCall } from '../../services/reference-core/mcp/apps.ts';
import type { Decider, Question, Verdict } from '../../services/reference-core/operations/decider.ts';
import { OperationRecord } from '../../services/reference-core/operations/record.ts';
import { realServers, type Workspace } from '../support/mcp-servers.ts';
import { startServices, type TestServices } from '../support/services.ts';

let services: TestServices;
let workspace: Workspace;
let apps: Apps;

beforeAll(async () => {
  services = await startServices();
  workspace = await realServers();
  apps = new Apps(workspace.servers.filter(({ name }) => name === 'everything'));
});

afterAll(async () => {
  await apps.close();
  await workspace[Symbol.asyncDispose]();
  await services[Symbol.asyncDispose]();
});

const never = new AbortController().signal;

/** The real apps, and the call ids of what was performed. */
function counted(): { readonly performed: string[]; readonly apps: Pick<Apps, 'catalog' | 'perform'> } {
  const performed: string[] = [];
  return {
    performed,
    apps: {
      catalog: () => apps.catalog(),
      perform: (call: SourceCall) => {
        performed.push(`${call.source.name} ${call.argumentsJson}`);
        return apps.perform(call);
      },
    },
  };
}

/** Asks about everything but echo, and answers as told; undefined: nobody is there. */
function asking(answer: (question: Question) => readonly Verdict[] | undefined): Decider {
  return {
    decide: ({ source }) => (source.name === 'echo' ? { tag: 'Allow' } : { tag: 'Ask' }),
    ask: async (question) => answer(question),
  };
}

function request(code: string): RunRequest {
  const id = randomUUID();
  return { session: id, turn: id, callId: id, owner: 'test', code, reason: 'To test.' };
}

/** The value of a run that must have completed. */
function returned(end: RunEnd): unknown {
  if (end.tag !== 'Finished') throw new Error('the run waits');
  const result = end.run.result?.result;
  if (result?.case !== 'completed') throw new Error(JSON.stringify(result?.value));
  return JSON.parse(result.value.valueJson ?? 'null');
}

const mixed = `
  const text = async (call) => (await call).content[0].text;
  const [a, b, c] = await Promise.all([
    text(apps.everything.get_sum({ a: 1, b: 2 })),
    text(apps.everything.echo({ message: 'free' })).then(async (first) => [first, await text(apps.everything.echo({ message: 'after ' + first }))]),
    text(apps.everything.get_sum({ a: 3, b: 4 })),
  ]);
  console.log('all there');
  return [a, b, c];
`;

describe('a run with calls that need a decision', () => {
  test('asks about all of them at once, goes on with the rest before, and performs each call once', async () => {
    using record = new OperationRecord(':memory:');
    const { apps, performed } = counted();
    const questions: Question[] = [];
    const decider = asking((question) => {
      questions.push(question);
      expect(performed).toEqual(['echo {"message":"free"}', 'echo {"message":"after Echo: free"}']);
      return question.calls.map(() => ({ tag: 'Allow' }));
    });
    const logs: string[] = [];
    const core = new ReferenceCore({ client: services.client, apps, record, decider });
    const end = await core.run(request(mixed), { log: ({ text }) => logs.push(text) }, never);
    expect(returned(end)).toEqual([
      'The sum of 1 and 2 is 3.',
      ['Echo: free', 'Echo: after Echo: free'],
      'The sum of 3 and 4 is 7.',
    ]);
    expect(questions).toHaveLength(1);
    expect(questions[0]?.code).toBe(mixed);
    expect(questions[0]?.calls.map(({ binding, argumentsJson }) => [binding, argumentsJson])).toEqual([
      ['everything.get_sum', '{"a":1,"b":2}'],
      ['everything.get_sum', '{"a":3,"b":4}'],
    ]);
    expect(performed.toSorted()).toEqual([
      'echo {"message":"after Echo: free"}',
      'echo {"message":"free"}',
      'get-sum {"a":1,"b":2}',
      'get-sum {"a":3,"b":4}',
    ]);
    expect(logs).toEqual(['all there']);
    if (end.tag === 'Finished') expect(end.run.attempts).toHaveLength(2);
  });

  test('gives the program an error that names the call where a person says no', async () => {
    using record = new OperationRecord(':memory:');
    const { apps, performed } = counted();
    const decider = asking(({ calls }) => calls.map(() => ({ tag: 'Deny', message: 'Sums are secret.' })));
    const core = new ReferenceCore({ client: services.client, apps, record, decider });
    const code = `
      try { await apps.everything.get_sum({ a: 1, b: 2 }); }
      catch (error) { return [error instanceof Error, error.name, error.binding, error.message]; }`;
    const end = await core.run(request(code), {}, never);
    expect(returned(end)).toEqual([
      true,
      'AppCallDenied',
      'everything.get_sum',
      expect.stringContaining('Sums are secret.'),
    ]);
    expect(performed).toEqual([]);
  });

  test('goes on waiting while nobody is there, and is resumed later', async () => {
    using record = new OperationRecord(':memory:');
    const { apps, performed } = counted();
    let there = false;
    const decider = asking(({ calls }) => (there ? calls.map(() => ({ tag: 'Allow' })) : undefined));
    const core = new ReferenceCore({ client: services.client, apps, record, decider });
    const code = `
      const first = await apps.everything.echo({ message: 'once' });
      const second = await apps.everything.get_sum({ a: 1, b: 2 });
      return [first.content[0].text, second.content[0].text];`;
    const waiting = await core.run(request(code), {}, never);
    if (waiting.tag !== 'Waiting') throw new Error('it did not wait');
    const { runId, requests } = waiting.waiting;
    expect(requests.map(({ capability, code: asks }) => [capability?.target, asks?.index])).toEqual([
      ['everything/get-sum', 1],
    ]);
    const { run } = await services.client.getCodeRun({ runId });
    expect(run?.status).toBe(CodeRunStatus.WAITING);
    there = true;
    expect(returned(await core.resume(runId, {}, never))).toEqual(['Echo: once', 'The sum of 1 and 2 is 3.']);
    expect(performed).toEqual(['echo {"message":"once"}', 'get-sum {"a":1,"b":2}']);
  });
});

describe('a run', () => {
  test('reads resources, fills templates in and fetches prompts as it calls tools', async () => {
    using record = new OperationRecord(':memory:');
    const decider: Decider = { decide: () => ({ tag: 'Allow' }), ask: async () => undefined };
    const core = new ReferenceCore({ client: services.client, apps, record, decider });
    const code = `
      const [resource, template, prompt, tool] = await Promise.all([
        apps.everything.features_md(),
        apps.everything.dynamic_text_resource({ resourceId: 4 }),
        apps.everything.args_prompt({ city: 'Oslo' }),
        apps.call('everything/get-sum', { a: 1, b: 2 }),
      ]);
      return [
        resource.contents[0].mimeType,
        template.contents[0].uri,
        prompt.messages[0].content.text,
        tool.content[0].text,
      ];`;
    expect(returned(await core.run(request(code), {}, never))).toEqual([
      'text/markdown',
      'demo://resource/dynamic/text/4',
      "What's weather in Oslo?",
      'The sum of 1 and 2 is 3.',
    ]);
  });

  test('whose record is gone says that an outcome is unknown instead of performing a call again', async () => {
    const { apps, performed } = counted();
    const decider = asking(() => undefined);
    let runId: string;
    {
      using record = new OperationRecord(':memory:');
      const core = new ReferenceCore({ client: services.client, apps, record, decider });
      const code = `
        try { return (await apps.everything.get_sum({ a: 1, b: 2 })).content[0].text; }
        catch (error) { return [error.name, error.reason]; }`;
      const end = await core.run(request(code), {}, never);
      if (end.tag !== 'Waiting') throw new Error('it did not wait');
      runId = end.waiting.runId;
    }
    using record = new OperationRecord(':memory:');
    const core = new ReferenceCore({ client: services.client, apps, record, decider });
    expect(returned(await core.resume(runId, {}, never))).toEqual(['AppCallFailed', 'OutcomeUnknown']);
    expect(performed).toEqual([]);
  });

  test('that is cancelled from elsewhere ends as Cancelled', async () => {
    using record = new OperationRecord(':memory:');
    const accepted = Promise.withResolvers<string>();
    const observer: RunObserver = {
      call: () => accepted.resolve(runId),
      accepted: (run) => (runId = run.runId),
    };
    let runId = '';
    const decider = asking(() => undefined);
    const core = new ReferenceCore({
      client: services.client,
      record,
      decider: { ...decider, decide: () => ({ tag: 'Allow' }) },
      apps: {
        catalog: () => apps.catalog(),
        // An app that never answers.
        perform: () => new Promise<never>(() => {}),
      },
    });
    const running = core.run(request('await apps.everything.echo({ message: "x" });'), observer, never);
    await services.client.cancelCodeRun({ runId: await accepted.promise });
    const end = await running;
    expect(end.tag === 'Finished' && CodeRunStatus[end.run.status]).toBe('CANCELLED');
  });

  test('of a core that was aborted can be resumed', async () => {
    using record = new OperationRecord(':memory:');
    const stop = new AbortController();
    const answer = Promise.withResolvers<void>();
    let runId = '';
    const { apps, performed } = counted();
    const core = new ReferenceCore({
      client: services.client,
      record,
      decider: { decide: () => ({ tag: 'Allow' }), ask: async () => undefined },
      apps: {
        catalog: () => apps.catalog(),
        perform: async (call) => {
          await answer.promise;
          return apps.perform(call);
        },
      },
    });
    const observer: RunObserver = {
      accepted: (run) => (runId = run.runId),
      call: () => stop.abort(new Error('enough')),
    };
    const code = 'return (await apps.everything.echo({ message: "kept" })).content[0].text';
    await expect(core.run(request(code), observer, stop.signal)).rejects.toThrow('enough');
    answer.resolve();
    // The service may not have noticed yet that its core went away: the core tries again until it has.
    expect(returned(await core.resume(runId, {}, never))).toBe('Echo: kept');
    expect(performed).toEqual(['echo {"message":"kept"}']);
  });
});
