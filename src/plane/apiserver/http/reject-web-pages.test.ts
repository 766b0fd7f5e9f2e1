import { expect, it } from 'vitest';
import { webPageProblem } from './reject-web-pages.ts';

it.each<[string, Record<string, string>]>([
  ['kubectl', { host: '127.0.0.1:36789' }],
  ['curl', { host: 'localhost:8001' }],
  ['a client behind a tunnel, on another port', { host: 'localhost' }],
  ['a client of IPv6', { host: '[::1]:8001' }],
  ['a client of HTTP/1.0, which names no host', {}],
  ['a user who types the address', { host: '127.0.0.1:1', 'sec-fetch-site': 'none' }],
])('%s is answered', (_who, headers) => {
  expect(webPageProblem(headers)).toBeUndefined();
});

it.each<[string, Record<string, string>, RegExp]>([
  [
    'a page of another site',
    { host: '127.0.0.1:1', origin: 'https://elsewhere.test' },
    /comes from "https:\/\/elsewhere\.test"/,
  ],
  ['a page without an origin of its own', { host: '127.0.0.1:1', origin: 'null' }, /comes from "null"/],
  ['an image in a page', { host: '127.0.0.1:1', 'sec-fetch-site': 'cross-site' }, /another site/],
  [
    'a page whose name was made to lead here',
    { host: 'elsewhere.test:36789' },
    /not called "elsewhere\.test:36789"; use 127\.0\.0\.1/,
  ],
  ['a name that only looks like the loopback', { host: '127.0.0.1.elsewhere.test' }, /not called/],
  ['an empty name', { host: '' }, /not called/],
])('%s is rejected', (_who, headers, message) => {
  const problem = webPageProblem(headers);
  expect(problem).toMatchObject({ code: 403, reason: 'Forbidden' });
  expect(problem!.message).toMatch(message);
});
