import { expect, it } from 'vitest';
import { webPageProblem } from './reject-web-pages.ts';

it.each<[string, Record<string, string>]>([
  ['kubectl', { host: '127.0.0.1:36789' }],
  ['curl', { host: 'localhost:8001' }],
  ['a client behind a tunnel, without a port', { host: 'localhost' }],
  ['a client over IPv6', { host: '[::1]:8001' }],
  ['an HTTP/1.0 client, which sends no Host', {}],
  ['a user who types the address', { host: '127.0.0.1:1', 'sec-fetch-site': 'none' }],
])('accepts %s', (_client, headers) => {
  expect(webPageProblem(headers)).toBeUndefined();
});

it.each<[string, Record<string, string>, RegExp]>([
  [
    'a page of another website',
    { host: '127.0.0.1:1', origin: 'https://elsewhere.test' },
    /has the Origin "https:\/\/elsewhere\.test"/,
  ],
  ['a page with an opaque origin', { host: '127.0.0.1:1', origin: 'null' }, /has the Origin "null"/],
  ['an image in a page', { host: '127.0.0.1:1', 'sec-fetch-site': 'cross-site' }, /another site/],
  [
    'a page whose host name was rebound to the loopback address',
    { host: 'elsewhere.test:36789' },
    /does not serve the host "elsewhere\.test:36789"; use 127\.0\.0\.1/,
  ],
  ['a host name that only looks like the loopback address', { host: '127.0.0.1.elsewhere.test' }, /does not serve/],
  ['an empty host name', { host: '' }, /does not serve/],
])('rejects %s', (_client, headers, message) => {
  const problem = webPageProblem(headers);
  expect(problem).toMatchObject({ code: 403, reason: 'Forbidden' });
  expect(problem!.message).toMatch(message);
});
