/**
 * The definitions of the two agent tools. Their texts are all that a model knows of Code Mode, so they say what a
 * program is, what it may use and what it gets, with an example of this turn's own bindings, and no more.
 */
import { limits } from '../../shared/limits.ts';
import { utf8Bytes } from '../../shared/text.ts';
import type { Binding } from '../core/model.ts';

export interface AgentTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, as JSON text. */
  readonly inputSchemaJson: string;
}

export const codeApiName = 'openbot_code_api';
export const runCodeName = 'openbot_run_code';

/** Both tools; none where there is nothing to call. */
export function agentTools(bindings: readonly Binding[]): AgentTool[] {
  const first = bindings.find(({ source }) => source.kind === 'tool') ?? bindings[0];
  if (first === undefined) return [];
  const connections = connectionsLine(bindings);
  return [codeApi(first, connections), runCode(first, connections)];
}

function codeApi(first: Binding, connections: string): AgentTool {
  return {
    name: codeApiName,
    description: [
      `Shows what a program of ${runCodeName} can call, as TypeScript declarations. Nothing is called.`,
      '',
      'Without arguments: every connection and its functions, one line each.',
      'query: the best matches for what you want to do, such as {"query": "list events of next week"}.',
      'connection: the functions of one connection.',
      `binding: everything about one function, such as {"binding": "${nameOf(first)}"}.`,
      '',
      'Look up a function before you use it for the first time: arguments are checked.',
      `Connections: ${connections}`,
    ].join('\n'),
    inputSchemaJson: JSON.stringify({
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Words that say what you want to do.' },
        connection: { type: 'string', description: 'Only this connection.' },
        binding: { type: 'string', description: 'The full declaration of this one function.' },
      },
      additionalProperties: false,
    }),
  };
}

function runCode(first: Binding, connections: string): AgentTool {
  return {
    name: runCodeName,
    description: [
      'Runs a JavaScript program that calls apps, and gives back what it returns and logs. Use it when a task',
      'takes several calls, or when results must be filtered, joined or counted: only what the program returns',
      'or logs comes back to you.',
      '',
      'code is the body of an async function:',
      '',
      `  const result = await apps.${nameOf(first)}({ /* see ${codeApiName} */ });`,
      '  if (result.isError) return { failed: result.content };',
      '  return result.structuredContent ?? result.content[0].text;',
      '',
      `- apps.<connection>.<function>({ … }): one object as the argument. ${codeApiName} shows names and types.`,
      '- A call gives what the app sent. Of a tool: content (mostly [{ type: "text", text }]), structuredContent,',
      '  and isError when the tool says that it failed; nothing is thrown for that.',
      '- await every call. Independent calls go at once: await Promise.all(ids.map((id) => apps.x.get({ id }))).',
      '- A call that is not allowed throws an error with name AppCallDenied; one that fails throws AppCallFailed,',
      '  with reason and message. try/catch works.',
      '- There is the language, console.log, URL, TextEncoder, structuredClone, crypto.randomUUID. There is no',
      '  network, no fetch, no files, no timers, no import or require. The time is when the run started, in UTC.',
      '- Return only what you need, as JSON. A large result is an error, not cut.',
      '- Calls that were made stay made, also when the program fails later. Read the list of calls in the answer',
      '  before you run a program again.',
      '- A call may have to wait for a person to allow it. The run goes on by itself after that: do not start it',
      '  again. It then repeats the program from the top with the recorded results, so it must make the same',
      '  calls in the same order.',
      `Connections: ${connections}`,
    ].join('\n'),
    inputSchemaJson: JSON.stringify({
      type: 'object',
      properties: {
        code: { type: 'string', description: 'The program: the body of an async function, in JavaScript.' },
        reason: {
          type: 'string',
          description: 'What the program is for, in one sentence. People who must allow its calls read it.',
        },
      },
      required: ['code', 'reason'],
      additionalProperties: false,
    }),
  };
}

/** "work_calendar (12), notes (3)": as many as the budget takes, and how many more. */
function connectionsLine(bindings: readonly Binding[]): string {
  const counts = [...Map.groupBy(bindings, ({ connection }) => connection)];
  const shown: string[] = [];
  let bytes = 0;
  for (const [connection, { length }] of counts) {
    const text = `${connection} (${length})`;
    bytes += utf8Bytes(text) + 2;
    if (bytes > limits.agentConnectionsBytesMax) break;
    shown.push(text);
  }
  const more = counts.length - shown.length;
  return more === 0 ? `${shown.join(', ')}.` : `${[...shown, `and ${more} more`].join(', ')}.`;
}

/** Every part can be written after a dot. */
function nameOf({ connection, capability }: Binding): string {
  return `${connection}.${capability}`;
}
