/** The sender of an HTTP request, as identity sees it. */
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Sender } from '../../../shared/auth/authenticator.ts';
import { certificateName } from '../../../shared/auth/certificate.ts';

export function senderOf(request: IncomingMessage): Sender {
  const { socket } = request;
  const certificate =
    socket instanceof TLSSocket && socket.authorized ? socket.getPeerCertificate() : undefined;
  return {
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    peer: socket.remoteAddress ?? '',
    certificateName: certificateName(certificate),
  };
}
