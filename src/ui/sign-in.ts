/**
 * Exchanges the token in the page's address for a cookie, and removes the token from the address: it counts once, and does not belong in the
 * history. Does nothing without a token: the browser may have the cookie. Resolves to what went wrong, if anything.
 */
export async function signIn(location: Location, history: History): Promise<string | undefined> {
  const token = location.hash.slice(1);
  if (token === '') return undefined;
  history.replaceState(null, '', location.pathname);
  const response = await fetch('session', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: token });
  return response.ok ? undefined : (await response.text()).trim();
}
