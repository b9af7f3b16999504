/** A real key-management server of Vault's protocol: OpenBao in development mode, in memory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { available, builtTool } from './available.ts';

export function baoAvailable(suite: string): boolean {
  return available(suite, builtTool('bao') === undefined ? 'no .tools/bin/bao (make tools)' : undefined);
}

export class Bao {
  readonly address: string;
  readonly token: string;
  readonly #process: ChildProcess;

  private constructor(address: string, token: string, child: ChildProcess) {
    this.address = address;
    this.token = token;
    this.#process = child;
  }

  static async start(): Promise<Bao> {
    const listen = `127.0.0.1:${await freePort()}`;
    const token = randomUUID();
    const given = ['server', '-dev', '-dev-no-store-token', `-dev-listen-address=${listen}`];
    const child = spawn(builtTool('bao') ?? 'bao', [...given, `-dev-root-token-id=${token}`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`bao ended with ${code}`)));
      createInterface(child.stdout).on('line', (line) => {
        if (line.startsWith('Development mode should NOT')) {
          resolve();
        }
      });
    });
    return new Bao(`http://${listen}`, token, child);
  }

  /** One request to the server's API as its root. */
  async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.address}/v1/${path}`, {
      method,
      headers: { 'X-Vault-Token': this.token },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    }
    return response.status === 204 ? undefined : response.json();
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGTERM');
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      await once(this.#process, 'exit');
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
