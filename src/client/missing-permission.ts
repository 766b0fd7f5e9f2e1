import { ForbiddenError } from './api-errors.ts';

/** A permission that the API server requires and the user does not have. */
export interface MissingPermission {
  readonly user: string;
  readonly verb: string;
  /** With the API group and the subresource, as in `kubectl auth can-i`: `nodes`, `pods/binding`, `csinodes.storage.k8s.io`; or a path. */
  readonly resource: string;
  /** Absent: in all namespaces. */
  readonly namespace?: string;
}

/** The wording of API servers, with any authorizer. Quotas and terminating namespaces cause other rejections. */
const wording =
  /User "([^"]*)" cannot ([\w*]+) (?:resource "([^"/]+)(\/[^"]+)?" in API group "([^"]*)"(?: in the namespace "([^"]+)")?|path "([^"]+)")/;

/** Returns the permission that the request needs, or undefined if the error has another cause. */
export function missingPermission(error: unknown): MissingPermission | undefined {
  if (!(error instanceof ForbiddenError)) return undefined;
  const match = wording.exec(error.message);
  if (match === null) return undefined;
  const [, user = '', verb = '', name, subresource = '', group = '', namespace, path = ''] = match;
  const resource = name === undefined ? path : `${name}${group === '' ? '' : `.${group}`}${subresource}`;
  return { user, verb, resource, ...(namespace !== undefined && { namespace }) };
}
