/** `as` and its like in a kubeconfig's user. */
export interface ImpersonatingUser {
  readonly as?: string | null;
  readonly 'as-uid'?: string | null;
  readonly 'as-groups'?: readonly string[] | null;
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>> | null;
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** What may stand in the name of a header, but for `%`, which escapes all else. */
const plainInName = /[A-Za-z0-9!#$&'*+.^_`|~-]/;

/** The headers that ask to act as somebody else; none where nobody is named. Throws an Error that says what is missing. */
export function impersonationHeaders(user: ImpersonatingUser): Headers {
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = user;
  const values = Object.entries(extra ?? {});
  if (!as) {
    const others = [uid && 'as-uid', groups?.length && 'as-groups', values.length > 0 && 'as-user-extra'];
    const asked = others.filter(Boolean);
    if (asked.length > 0) throw new Error(`${asked.join(', ')} without as: name the user to act as`);
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
