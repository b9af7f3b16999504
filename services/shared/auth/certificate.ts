/** The name that a verified client certificate carries. */
import type { PeerCertificate } from 'node:tls';

/** Its common name, else its first alternative name without the kind. Undefined: there is no certificate. */
export function certificateName(certificate: PeerCertificate | undefined): string | undefined {
  if (certificate?.subject === undefined) return undefined;
  const { CN } = certificate.subject;
  const common = Array.isArray(CN) ? CN[0] : CN;
  return common ?? certificate.subjectaltname?.split(', ')[0]?.replace(/^[^:]*:/, '');
}
