/** The command line of the reference core. */
import { execute } from './command.ts';
import { untilStopped } from './stop.ts';

// A reader that has enough (`| head`) is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const stopped = untilStopped();
try {
  const streams = { input: process.stdin, out: process.stdout, err: process.stderr };
  process.exitCode = await execute(process.argv.slice(2), streams, stopped.signal);
} catch (error) {
  if (!stopped.signal.aborted) throw error;
  process.exitCode = stopped.status();
}
