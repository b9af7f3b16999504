/**
 * `make mongo`: a local MongoDB-protocol server for development, on port 27017 with its data in .data/mongo. Takes
 * another port and folder as arguments; port 0 is any free one.
 */
import { join } from 'node:path';
import { MongoServer, mongoProgram } from './server.ts';

const [, , givenPort = '27017', folder = join(import.meta.dirname, '../../.data/mongo')] = process.argv;

const program = mongoProgram();
if (program === undefined) {
  process.stderr.write(
    'make mongo: there is no mongod on PATH and no .tools/bin/ferretdb: run "make tools"\n',
  );
  process.exit(1);
}
const server = await MongoServer.start(program, folder, Number(givenPort));
const { port } = server.gate;
process.stdout.write(
  `${program.kind} listens. Use it with: MONGODB_URI=mongodb://127.0.0.1:${port}/code_mode make start\n`,
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void server.stop());
}
