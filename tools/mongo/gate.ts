/**
 * A proxy for the MongoDB protocol that stands before a local server.
 *
 * G1  `oneAtATime` lets one write through at a time. FerretDB v1 on SQLite reads, changes and writes a
 *     document in separate steps, so that two updates of it at once can both match; MongoDB promises that one
 *     does. One write at a time makes the promise good.
 * G2  `fault` decides for each command what becomes of it, so that tests can lose a connection before or
 *     after the server has done it, or leave it without an answer.
 * G3  What a server goes on to say to one request (the states that MongoDB streams to a driver's monitor) passes.
 * G4  The port stays the same while the server behind it is stopped and started.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Pass it on; close the connection before the server sees it, or after it answered; never answer. */
export type Fate = 'pass' | 'cut-before' | 'cut-after' | 'hang';

export interface Command {
  /** "insert", "update", "find" … Empty for what is not a command message. */
  readonly name: string;
  readonly collection: string;
}

const headerBytes = 16;
const messageOpcode = 2013;
/** Flag of a message after which the same side says another. */
const moreToCome = 2;
const writes = ['insert', 'update', 'delete', 'findAndModify', 'createIndexes', 'dropDatabase'];

export class MongoGate {
  readonly #server: Server;
  readonly #oneAtATime: boolean;
  readonly #clients = new Set<Socket>();
  #serverPort: number;
  #away = false;
  #turn: Promise<void> = Promise.resolve();
  /** What becomes of each command. */
  fault: (command: Command) => Fate = () => 'pass';

  private constructor(serverPort: number, oneAtATime: boolean) {
    this.#serverPort = serverPort;
    this.#oneAtATime = oneAtATime;
    this.#server = createServer((client) => this.#accept(client));
  }

  /** `port` 0: any free one. */
  static async listen(serverPort: number, oneAtATime: boolean, port = 0): Promise<MongoGate> {
    const gate = new MongoGate(serverPort, oneAtATime);
    gate.#server.listen(port, '127.0.0.1');
    await once(gate.#server, 'listening');
    return gate;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The server was started again on another port. */
  retarget(serverPort: number): void {
    this.#serverPort = serverPort;
  }

  /** Closes every connection, and each new one at once, until told otherwise. */
  set away(away: boolean) {
    this.#away = away;
    if (away) {
      this.#cutAll();
    }
  }

  async close(): Promise<void> {
    this.#cutAll();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #cutAll(): void {
    for (const client of this.#clients) {
      client.destroy();
    }
  }

  #accept(client: Socket): void {
    if (this.#away) {
      client.destroy();
      return;
    }
    const server = connect(this.#serverPort, '127.0.0.1');
    this.#clients.add(client);
    const end = () => {
      this.#clients.delete(client);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      socket.setNoDelay(true).on('error', end).on('close', end);
    }
    const answers = new Messages(server);
    void this.#serve(new Messages(client), answers, client, server).catch(end).finally(end);
  }

  async #serve(requests: Messages, answers: Messages, client: Socket, server: Socket): Promise<void> {
    for (;;) {
      const request = await requests.next();
      if (request === undefined) {
        return;
      }
      const command = commandOf(request);
      const fate = this.fault(command);
      if (fate === 'cut-before') {
        return;
      }
      if (fate === 'hang') {
        await once(client, 'close');
        return;
      }
      const perform = () => {
        server.write(request);
        return answers.next();
      };
      const answer = await (writes.includes(command.name) ? this.#inTurn(perform) : perform());
      if (answer === undefined || fate === 'cut-after') {
        return;
      }
      client.write(answer);
      for (let last: Buffer | undefined = answer; hasMoreToCome(last); ) {
        last = await answers.next();
        if (last === undefined) {
          return;
        }
        client.write(last);
      }
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#oneAtATime) {
      return work();
    }
    const done = this.#turn.then(work);
    this.#turn = done.then(
      () => {},
      () => {},
    );
    return done;
  }
}

/** Whole messages of a connection, one by one. */
class Messages {
  readonly #chunks: AsyncIterator<Buffer>;
  #buffered: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** Undefined at the end of the connection. */
  async next(): Promise<Buffer | undefined> {
    const chunks = [this.#buffered];
    let bytes = this.#buffered.length;
    for (;;) {
      const size = bytes >= 4 ? sizeIn(chunks) : headerBytes;
      if (bytes >= size && bytes >= headerBytes) {
        const all = Buffer.concat(chunks);
        this.#buffered = all.subarray(size);
        return all.subarray(0, size);
      }
      const { done, value } = await this.#chunks.next();
      if (done) {
        return undefined;
      }
      chunks.push(value);
      bytes += value.length;
    }
  }
}

function sizeIn(chunks: Buffer[]): number {
  const [first] = chunks;
  return first !== undefined && first.length >= 4
    ? first.readInt32LE(0)
    : Buffer.concat(chunks).readInt32LE(0);
}

function hasMoreToCome(message: Buffer): boolean {
  return message.readInt32LE(12) === messageOpcode && (message.readUInt32LE(headerBytes) & moreToCome) !== 0;
}

/** Name and collection are the first element of the command's document. */
function commandOf(message: Buffer): Command {
  const nameAt = headerBytes + 4 + 1 + 4 + 1;
  if (message.readInt32LE(12) !== messageOpcode || message[headerBytes + 4] !== 0) {
    return { name: '', collection: '' };
  }
  const nameEnd = message.indexOf(0, nameAt);
  const isString = message[nameAt - 1] === 2;
  const bytes = isString ? message.readInt32LE(nameEnd + 1) : 1;
  return {
    name: message.toString('utf8', nameAt, nameEnd),
    collection: isString ? message.toString('utf8', nameEnd + 5, nameEnd + 5 + bytes - 1) : '',
  };
}
