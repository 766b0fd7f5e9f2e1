/** The impersonation fields (`as` and others) of a kubeconfig user. */
export interface ImpersonatingUser {
  readonly as?: string | null;
  readonly 'as-uid'?: string | null;
  readonly 'as-groups'?: readonly string[] | null;
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>> | null;
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Characters allowed in a header name; `%` is left out because it starts an escape. */
const plainInName = /[A-Za-z0-9!#$&'*+.^_`|~-]/;

/** Returns the impersonation headers; none if `as` is not set. Throws an Error that names the missing field. */
export function impersonationHeaders(user: ImpersonatingUser): Headers {
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = user;
  const values = Object.entries(extra ?? {});
  if (!as) {
    const names = [uid && 'as-uid', groups?.length && 'as-groups', values.length > 0 && 'as-user-extra'];
    const present = names.filter(Boolean);
    if (present.length > 0) throw new Error(`${present.join(', ')} without as: set the user to impersonate`);
    return {};
  }
  return {
    'impersonate-user': as,
    ...(uid && { 'impersonate-uid': uid }),
    ...(groups?.length && { 'impersonate-group': groups }),
    ...Object.fromEntries(values.map(([key, all]) => [`impersonate-extra-${escaped(key.toLowerCase())}`, all])),
  };
}

function escaped(key: string): string {
  const percent = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return [...new TextEncoder().encode(key)]
    .map((byte) => (plainInName.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : percent(byte)))
    .join('');
}
