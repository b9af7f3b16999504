/**
 * Stands in for whatwg-url's tr46: names of hosts in ASCII. The mapping table of the standard would be four
 * times the realm; normalizing and lower case give the same for names that people write.
 */
import { encode } from 'punycode/punycode.es6.js';

const dots = /[.\u3002\uff0e\uff61]/;
const ascii = /^[^\u0080-\uffff]*$/;

/** The name in ASCII, or null if it cannot be one. */
export function toASCII(domain: string): string | null {
  const labels = domain.normalize('NFKC').toLowerCase().normalize('NFC').split(dots);
  const encoded = labels.map((label) => (ascii.test(label) ? label : `xn--${encode(label)}`));
  return encoded.join('.');
}
