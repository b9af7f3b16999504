/** An edge that lets everybody in. */
import { createAuthenticator } from '../../services/shared/auth/authenticator.ts';

export const anyone = createAuthenticator({ kind: 'loopback' }).authenticate;
