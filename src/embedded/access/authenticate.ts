import type { TransportRequest } from '../../client/transport.ts';
import { ApiError } from '../http/api-error.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';
import { administrator } from './user.ts';
import type { User } from './user.ts';

/** Who sends the request: the account of the token that it brings, or the administrator. Throws 401 for a token that is not good. */
export function authenticate(request: TransportRequest, tokens: ServiceAccountTokens): User {
  const { authorization } = request.headers;
  if (authorization === undefined || authorization === '') return administrator;
  const token = /^bearer (\S+)$/i.exec(authorization.trim())?.[1];
  const verified = token === undefined ? 'only bearer tokens are known here' : tokens.verify(token);
  if (typeof verified !== 'string') return verified.user;
  throw new ApiError({ code: 401, reason: 'Unauthorized', message: `Unauthorized: ${verified}` });
}
