/** URLs of servers whose answers are trusted, or that are sent secrets. */
import { isLoopback } from './address.ts';

/** Throws an Error that says what it must be. */
export function checkSecureUrl(text: string): URL {
  if (!URL.canParse(text)) throw new Error('must be an https URL');
  const url = new URL(text);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const here = url.protocol === 'http:' && isLoopback({ kind: 'tcp', host, port: 0 });
  if (url.protocol !== 'https:' && !here) {
    throw new Error('must be an https URL; http is for this machine alone');
  }
  // The client that asks refuses them.
  if (url.username !== '' || url.password !== '') throw new Error('must hold no user name and password');
  if (url.hash !== '') throw new Error('must hold no fragment (#…)');
  return url;
}
