import type { TransportRequest } from '../../client/transport.ts';
import { ApiError, forbidden } from '../http/api-error.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';
import { administrator } from './user.ts';
import type { User } from './user.ts';

/**
 * Who a request is from: the account of the token that it brings, or the administrator, who may ask to be taken for somebody
 * else (`kubectl --as`). Throws 401 for a token that is not good, 403 for anybody else who asks that.
 */
export function authenticate(request: TransportRequest, tokens: ServiceAccountTokens): User {
  const user = sender(request, tokens);
  const name = request.headers['impersonate-user'];
  if (name === undefined) return user;
  if (user !== administrator) {
    throw forbidden({ group: '', plural: 'users' }, name, `User ${JSON.stringify(user.name)} cannot impersonate`);
  }
  const groups = (request.headers['impersonate-group'] ?? '').split(',').map((group) => group.trim());
  const [, , namespace] = name.startsWith('system:serviceaccount:') ? name.split(':') : [];
  const own = namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  const all = [...groups.filter((group) => group !== ''), ...own, 'system:authenticated'];
  return { name, uid: request.headers['impersonate-uid'] ?? '', groups: [...new Set(all)], extra: {} };
}

function sender(request: TransportRequest, tokens: ServiceAccountTokens): User {
  const { authorization } = request.headers;
  if (authorization === undefined || authorization === '') return administrator;
  const token = /^bearer (\S+)$/i.exec(authorization.trim())?.[1];
  const verified = token === undefined ? 'only bearer tokens are known here' : tokens.verify(token);
  if (typeof verified !== 'string') return verified.user;
  throw new ApiError({ code: 401, reason: 'Unauthorized', message: `Unauthorized: ${verified}` });
}
