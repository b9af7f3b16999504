/** An issuer of tokens, with keys that rotate, as tests need it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

export const issuer = 'https://issuer.test';
export const audience = 'code-mode';

export interface Claims extends JWTPayload {
  readonly permissions?: readonly string[] | string;
  readonly sessions?: readonly string[];
}

export class Issuer {
  readonly #server: Server;
  #keys: { id: string; privateKey: CryptoKey; publicKey: CryptoKey }[] = [];
  /** How often the keys were fetched. */
  fetches = 0;
  /** What the server answers; 200 gives the keys. */
  status = 200;
  /** What it answers instead of the keys. */
  body: string | undefined;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Issuer> {
    const server = createServer();
    const issuing = new Issuer(server);
    server.on('request', async (_request, response) => {
      issuing.fetches++;
      const keys = await Promise.all(
        issuing.#keys.map(async ({ id, publicKey }) => ({
          ...(await exportJWK(publicKey)),
          kid: id,
          alg: 'ES256',
        })),
      );
      response
        .writeHead(issuing.status, { 'content-type': 'application/json' })
        .end(issuing.body ?? JSON.stringify({ keys }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await issuing.rotate('k1');
    return issuing;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/jwks.json`;
  }

  /** A new key; the others are withdrawn. */
  async rotate(id: string): Promise<void> {
    this.#keys = [{ id, ...(await generateKeyPair('ES256')) }];
  }

  /** `without`: claims that are left out. */
  async sign(
    claims: Claims,
    header: { kid?: string } = {},
    without: readonly string[] = [],
  ): Promise<string> {
    const [key] = this.#keys;
    if (key === undefined) throw new Error('no key');
    return await token(claims, without)
      .setProtectedHeader({ alg: 'ES256', kid: key.id, ...header })
      .sign(key.privateKey);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A token that is right but for what the claims say otherwise, and for those that are left out. */
export function token(claims: Claims, without: readonly string[] = []): SignJWT {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const right = {
    iss: issuer,
    aud: audience,
    exp: nowSeconds + 600,
    iat: nowSeconds,
    sub: 'someone',
    ...claims,
  };
  return new SignJWT(Object.fromEntries(Object.entries(right).filter(([name]) => !without.includes(name))));
}
