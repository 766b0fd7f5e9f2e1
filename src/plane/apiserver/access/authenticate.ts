import { Buffer } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import type { TransportRequest } from '../../../client/transport.ts';
import { ApiError } from '../http/api-error.ts';

/**
 * Returns whether the request comes from the administrator: it has the administrator's token, or the server needs no token. The
 * plane has no other users. Returns false for a request without credentials. Throws 401 for other credentials, and 403 for
 * impersonation.
 */
export function authenticate(
  { headers }: Pick<TransportRequest, 'headers'>,
  administratorToken: string | undefined,
): boolean {
  const isAdministrator = hasAdministratorToken(headers.authorization, administratorToken);
  if (headers['impersonate-user'] === undefined) return isAdministrator;
  const message = 'impersonation is not supported: the embedded control plane has only one user, the administrator';
  throw new ApiError(403, 'Forbidden', message);
}

function hasAdministratorToken(authorization: string | undefined, administratorToken: string | undefined): boolean {
  if (administratorToken === undefined) return true;
  if (authorization === undefined || authorization === '') return false;
  const token = /^bearer (\S+)$/i.exec(authorization.trim())?.[1];
  if (token !== undefined && isSame(token, administratorToken)) return true;
  const message =
    "Unauthorized: these credentials are not the administrator's token; use the kubeconfig that tutti up wrote for this control plane";
  throw new ApiError(401, 'Unauthorized', message);
}

/** Throws 401 unless the request comes from the administrator. */
export function requireCredentials(isAdministrator: boolean): void {
  if (isAdministrator) return;
  const message =
    'Unauthorized: the request has no bearer token; use the kubeconfig that was written for this control plane (export KUBECONFIG=...)';
  throw new ApiError(401, 'Unauthorized', message);
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
