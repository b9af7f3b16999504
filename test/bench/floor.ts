/**
 * The peer of every ratio: bare isolated-vm in this process. A fresh isolate and context for each run, calls
 * through one callback and a promise each; no journal, no checks, no lock, no second process.
 */
import ivm from 'isolated-vm';

/** Answers a call; text in, text out. */
export type Answer = (argumentsJson: string) => Promise<string>;

/** How a call crosses: the program waits for a promise that `settle` resolves. */
const bridge = `
  const waiting = [];
  globalThis.call = (args) => new Promise((resolve) => {
    $0(waiting.push(resolve) - 1, JSON.stringify(args));
  });
  return (index, resultJson) => waiting[index](JSON.parse(resultJson));
`;

/** Runs the body of an async function, in which \`call(args)\` calls; gives its value as JSON text. */
export async function runBare(body: string, answer: Answer): Promise<string> {
  const isolate = new ivm.Isolate({ memoryLimit: 64 });
  try {
    const context = await isolate.createContext();
    let settle: ivm.Reference<(index: number, resultJson: string) => void>;
    const onCall = new ivm.Callback((index: number, argumentsJson: string) => {
      void answer(argumentsJson).then((resultJson) => settle.applyIgnored(undefined, [index, resultJson]));
    });
    settle = await context.evalClosure(bridge, [onCall], { result: { reference: true } });
    const script = `(async () => { ${body} })().then((value) => JSON.stringify(value))`;
    return (await context.eval(script, { promise: true, copy: true })) as string;
  } finally {
    isolate.dispose();
  }
}
