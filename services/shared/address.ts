/** Addresses of servers: "host:port", "[v6]:port" or "unix:/path". */
import { isIP } from 'node:net';

export type Address =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/** Throws an Error that says what it must be. */
export function parseAddress(text: string): Address {
  const path = /^unix:(?:\/\/)?(\/.+)$/.exec(text)?.[1];
  if (path !== undefined) return { kind: 'unix', path };
  const [, v6, name, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = v6 ?? name;
  if (host === undefined || Number(digits) > 65_535 || (v6 !== undefined && isIP(v6) !== 6)) {
    throw new Error('must be "host:port", "[v6 address]:port" or "unix:/path"');
  }
  return { kind: 'tcp', host, port: Number(digits) };
}

/**
 * What a client dials: an address of a server, or "dns:///name:port", which stands for all addresses of the name.
 * Throws an Error that says what it must be.
 */
export function parseTarget(text: string): Address {
  const name = /^dns:\/\/\/(.*)$/.exec(text)?.[1];
  const address = parseAddress(name ?? text);
  if (name !== undefined && address.kind !== 'tcp') throw new Error('must be "dns:///name:port"');
  if (address.kind === 'tcp' && address.port === 0) throw new Error('must name a port from 1 to 65535');
  return address;
}

/** Whether only this machine can reach it. A name other than localhost may resolve to anything. */
export function isLoopback(address: Address): boolean {
  if (address.kind === 'unix') return true;
  return address.host === 'localhost' || address.host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(address.host);
}
