/**
 * What of a secret may be printed: nothing, or of a URL all but its secret parts. A text that carries the mask
 * is no value: what was printed is refused where it comes back in place of a secret.
 */

const mask = '***';

export function maskWhole(): string {
  return mask;
}

/** Parameters whose values are secrets, by how their names end; MongoDB's properties may carry a session token. */
const secretParameter =
  /(?:pass|password|passwd|pwd|secret|token|sig|signature|credentials?|key|auth|authMechanismProperties)$/i;

/**
 * Masks the password and the values of secret parameters. A user name that stands alone is often a token, but
 * never one of MongoDB: its users without a password are those of certificates. Also of URLs that name several
 * hosts, as those of MongoDB do. A text that is no URL stays as it is.
 */
export function maskUrl(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i, (whole, scheme: string, user: string) => {
      const colon = user.indexOf(':');
      if (colon === user.length - 1) return whole; // An empty password is none.
      if (colon >= 0) return `${scheme}${user.slice(0, colon)}:${mask}@`;
      return /^mongodb(?:\+srv)?:/i.test(scheme) ? whole : `${scheme}${mask}@`;
    })
    .replace(/([?&;])([^=&;#]+)=([^&;#]*)/g, (whole, start: string, name: string) =>
      secretParameter.test(name) ? `${start}${name}=${mask}` : whole,
    );
}

/** Whether a text is what was printed in place of a secret. */
export function isMasked(text: string): boolean {
  return text.includes(mask);
}
