/**
 * Requests whose results are given as the server sent them.
 *
 * The client's own callTool, readResource and list methods read a result into their own shape: they drop
 * fields they do not know, refuse a whole list for one tool that breaks the rules, and throw a result away
 * that does not match its output schema. A program gets exactly what the app sent, so these requests only
 * check that a result is an object.
 */
import type { Client, RequestOptions, StandardSchemaV1 } from '@modelcontextprotocol/client';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const anyObject: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'openbot',
    validate: (value) =>
      isObject(value) ? { value } : { issues: [{ message: 'the result is not an object' }] },
  },
};

/** Sends one request. Throws what the client throws. */
export function rawRequest(
  client: Client,
  method: string,
  params: Record<string, unknown>,
  options: RequestOptions,
): Promise<JsonObject> {
  return client.request({ method, params }, anyObject, options);
}
