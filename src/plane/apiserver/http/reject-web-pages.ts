import { isIP } from 'node:net';
import { ApiError } from './api-error.ts';

/** What a server on the loopback is called by those who mean it: any other name has been made to lead here. */
function isLoopback(host: string): boolean {
  const name = /^(.*?)(?::\d*)?$/.exec(host)![1]!.toLowerCase();
  return name === 'localhost' || name === '[::1]' || (isIP(name) === 4 && name.startsWith('127.'));
}

/**
 * Why a request is not answered at all: it comes from a web page that somebody looks at on this machine. A page may have requests sent
 * anywhere, but not without an Origin, or a Sec-Fetch-Site, that says so; and not to a name of its own that leads to the loopback without
 * that name being the Host. No Kubernetes client sends any of these. Undefined: it does not. Header names are in lower case.
 */
export function webPageProblem(headers: Readonly<Record<string, string | undefined>>): ApiError | undefined {
  const { host, origin, 'sec-fetch-site': site } = headers;
  const rejected = (why: string): ApiError =>
    new ApiError({ code: 403, reason: 'Forbidden', message: `requests of web pages are not answered: ${why}` });
  if (host !== undefined && !isLoopback(host)) {
    return rejected(
      `this server is on the loopback and is not called ${JSON.stringify(host.slice(0, 100))}; use 127.0.0.1`,
    );
  }
  if (origin !== undefined) return rejected(`this one says that it comes from ${JSON.stringify(origin.slice(0, 100))}`);
  // What a user types into the address line has "none".
  if (site !== undefined && site !== 'none') return rejected(`this one says that it comes from another site`);
  return undefined;
}
