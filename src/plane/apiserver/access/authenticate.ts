import { Buffer } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import type { TransportRequest } from '../../../client/transport.ts';
import { ApiError, forbidden } from '../http/api-error.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';
import { administrator, anonymous } from './user.ts';
import type { User } from './user.ts';

/**
 * Who a request is from: the account of the token that it brings, or the administrator, who may ask to be taken for somebody
 * else (`kubectl --as`). Without a token it is anonymous, and where the administrator has none, the administrator's. Throws 401 for a
 * token that is not good, 403 for anybody else who asks to be taken for another.
 */
export function authenticate(
  request: Pick<TransportRequest, 'headers'>,
  tokens: ServiceAccountTokens,
  administratorToken: string | undefined,
): User {
  const user = sender(request, tokens, administratorToken);
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

function sender(
  request: Pick<TransportRequest, 'headers'>,
  tokens: ServiceAccountTokens,
  administratorToken: string | undefined,
): User {
  const { authorization } = request.headers;
  if (authorization === undefined || authorization === '') {
    return administratorToken === undefined ? administrator : anonymous;
  }
  const token = /^bearer (\S+)$/i.exec(authorization.trim())?.[1];
  if (token !== undefined && administratorToken !== undefined && isSame(token, administratorToken))
    return administrator;
  const verified = token === undefined ? 'only bearer tokens are known here' : tokens.verify(token);
  if (typeof verified !== 'string') return verified.user;
  throw new ApiError({ code: 401, reason: 'Unauthorized', message: `Unauthorized: ${verified}` });
}

/** Throws 401 for whoever brings no token where one is asked for. */
export function refuseAnonymous(user: User): void {
  if (user !== anonymous) return;
  const message =
    'Unauthorized: the request has no bearer token; use the kubeconfig that was written for this control plane (export KUBECONFIG=...)';
  throw new ApiError({ code: 401, reason: 'Unauthorized', message });
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
