/**
 * Wraps data keys with the transit engine of HashiCorp Vault or OpenBao: the wrapping key never leaves the
 * server. The run's context is authenticated as associated data, so the key must be of an AEAD type
 * (aes256-gcm96, the engine's default, or chacha20-poly1305).
 *
 * Key versions are the server's: after a rotation there, `rotate` here wraps again under the new version, and
 * the old one may then be trimmed.
 */
import { type KeyKeeper, KeyServiceUnavailable, KeyUnusable, type WrappedKey } from './keys.ts';

export interface TransitOptions {
  /** "https://vault.example:8200" */
  readonly address: string;
  /** Path of the engine. Usually "transit". */
  readonly mount: string;
  readonly key: string;
  /** Asked for each request, so that a token that an agent renews is taken up. */
  readonly token: () => string | Promise<string>;
  readonly namespace?: string;
  readonly timeoutMs: number;
}

interface Answer {
  readonly status: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly errors: string;
}

const ciphertextPattern = /^vault:v(\d+):/;

export class TransitKeeper implements KeyKeeper {
  readonly name: string;
  readonly #options: TransitOptions;

  constructor(options: TransitOptions) {
    this.name = `transit/${options.mount}/${options.key}`;
    this.#options = options;
  }

  async activeKeyId(): Promise<string> {
    const answer = await this.#ask('GET', 'keys');
    const { latest_version: version } = answer.data;
    if (answer.status !== 200 || typeof version !== 'number') {
      throw this.#refused(answer);
    }
    return this.#keyId(version);
  }

  async wrap(dataKey: Uint8Array, context: string): Promise<WrappedKey> {
    const answer = await this.#ask('POST', 'encrypt', { plaintext: base64(dataKey), ...bound(context) });
    const { ciphertext } = answer.data;
    if (answer.status !== 200 || typeof ciphertext !== 'string') {
      throw this.#refused(answer);
    }
    const [, version] = ciphertextPattern.exec(ciphertext) ?? [];
    return { keyId: this.#keyId(Number(version)), wrapped: Buffer.from(ciphertext, 'utf8') };
  }

  async unwrap({ keyId, wrapped }: WrappedKey, context: string): Promise<Uint8Array> {
    const ciphertext = Buffer.from(wrapped).toString('utf8');
    const answer = await this.#ask('POST', 'decrypt', { ciphertext, ...bound(context) });
    const { plaintext } = answer.data;
    if (answer.status === 200 && typeof plaintext === 'string') {
      return Buffer.from(plaintext, 'base64');
    }
    if (answer.status === 400 || answer.status === 404) {
      throw new KeyUnusable(`key "${keyId}" did not unwrap this data key: ${answer.errors}`);
    }
    throw this.#refused(answer);
  }

  #keyId(version: number): string {
    return `${this.name}:v${version}`;
  }

  #refused({ status, errors }: Answer): KeyServiceUnavailable {
    return new KeyServiceUnavailable(`${this.name}: the server answered ${status}: ${errors}`);
  }

  async #ask(method: 'GET' | 'POST', action: string, body?: Record<string, string>): Promise<Answer> {
    const { address, mount, key, namespace, timeoutMs } = this.#options;
    const url = `${address.replace(/\/$/, '')}/v1/${mount}/${action}/${encodeURIComponent(key)}`;
    try {
      const response = await fetch(url, {
        method,
        headers: {
          'X-Vault-Token': await this.#options.token(),
          'X-Vault-Request': 'true',
          ...(namespace !== undefined && { 'X-Vault-Namespace': namespace }),
        },
        ...(body && { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      return answerOf(response.status, await response.text());
    } catch (error) {
      const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const text = reason instanceof Error ? reason.message : String(reason);
      throw new KeyServiceUnavailable(`${this.name}: no answer: ${text}`, { cause: error });
    }
  }
}

/** What is not the server's JSON (a proxy's page) has its status and nothing else. */
function answerOf(status: number, text: string): Answer {
  try {
    const { data, errors } = JSON.parse(text) as { data?: Answer['data']; errors?: string[] };
    return { status, data: data ?? {}, errors: errors?.join('; ') || 'no reason given' };
  } catch {
    return { status, data: {}, errors: 'no reason given' };
  }
}

function bound(context: string): { associated_data: string } {
  return { associated_data: base64(Buffer.from(context, 'utf8')) };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
