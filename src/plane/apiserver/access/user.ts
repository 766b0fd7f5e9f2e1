import type { JsonObject } from '../json.ts';

/** Who sends a request. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  /** What else a token says. */
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Whoever brings no token where one is asked for. */
export const anonymous: User = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} };

/** Whoever brings the administrator's token; or none, where none is asked for. */
export const administrator: User = {
  name: 'kubernetes-admin',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: {},
};

export function serviceAccountName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/** The user as reviews show it. */
export function userInfo(user: User): JsonObject {
  const extra = Object.fromEntries(Object.entries(user.extra).map(([key, values]) => [key, [...values]]));
  return {
    username: user.name,
    ...(user.uid !== '' && { uid: user.uid }),
    groups: [...user.groups],
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}
