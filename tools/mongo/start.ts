/** `make mongo`: a local MongoDB-protocol server for development, with its data in .data/mongo. */
import { join } from 'node:path';
import { MongoServer, mongoProgram } from './server.ts';

const port = 27017;

const program = mongoProgram();
if (program === undefined) {
  process.stderr.write(
    'make mongo: there is no mongod on PATH and no .tools/bin/ferretdb: run "make tools"\n',
  );
  process.exit(1);
}
const server = await MongoServer.start(program, join(import.meta.dirname, '../../.data/mongo'), port);
process.stdout.write(
  `${program.kind} listens. Use it with: MONGODB_URI=mongodb://127.0.0.1:${port}/code_mode make start\n`,
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void server.stop());
}
