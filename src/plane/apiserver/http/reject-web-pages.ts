import { isIP } from 'node:net';
import { ApiError } from './api-error.ts';

/** Returns whether the Host is a loopback name. A different name may be a web page's own, rebound to the loopback address. */
function isLoopback(host: string): boolean {
  const name = /^(.*?)(?::\d*)?$/.exec(host)![1]!.toLowerCase();
  return name === 'localhost' || name === '[::1]' || (isIP(name) === 4 && name.startsWith('127.'));
}

/**
 * Returns the error for a request from a web page that is open on this machine, or undefined. A page can send requests to any server,
 * but the browser adds an Origin or a Sec-Fetch-Site header. If the page uses DNS rebinding, the Host is the page's own name. No
 * Kubernetes client sends such headers. Header names are in lower case.
 */
export function webPageProblem(headers: Readonly<Record<string, string | undefined>>): ApiError | undefined {
  const { host, origin, 'sec-fetch-site': site } = headers;
  const rejected = (why: string): ApiError =>
    new ApiError(403, 'Forbidden', `requests from web pages are rejected: ${why}`);
  if (host !== undefined && !isLoopback(host)) {
    return rejected(
      `this server listens on loopback addresses and does not serve the host ${JSON.stringify(host.slice(0, 100))}; use 127.0.0.1`,
    );
  }
  if (origin !== undefined) return rejected(`the request has the Origin ${JSON.stringify(origin.slice(0, 100))}`);
  // Browsers send "none" for an address that the user enters.
  if (site !== undefined && site !== 'none') return rejected(`the request comes from another site`);
  return undefined;
}
