import { expect, it } from 'vitest';
import { UserError } from '../base/user-error.ts';
import { explainRejection } from './access-denied-error.ts';
import { errorFromResponse } from './parse-status.ts';

const rejection = (code: number, reason: string, message: string): Error =>
  errorFromResponse('GET /version', code, {}, JSON.stringify({ kind: 'Status', code, reason, message }), 0);

it('adds a remedy to a 401 and keeps the server message', () => {
  const rejected = explainRejection(rejection(401, 'Unauthorized', 'Unauthorized'));
  expect(rejected).toBeInstanceOf(UserError);
  expect(rejected).toMatchObject({
    name: 'AccessDeniedError',
    message:
      'GET /version returned 401 Unauthorized: Unauthorized. The server does not recognize these credentials, or they have expired: renew them, or choose others with --kubeconfig and --context',
    cause: { name: 'UnauthorizedError' },
  });
});

it('adds a remedy to a 403 and keeps the server message', () => {
  const rejected = explainRejection(rejection(403, 'Forbidden', 'User "eve" cannot get path "/version".'));
  expect(rejected).toBeInstanceOf(UserError);
  expect((rejected as Error).message).toMatch(
    /403 Forbidden: User "eve" cannot get path "\/version"\. The server recognizes this user but denies the request: grant the user a role/,
  );
});

it('returns every other error unchanged', () => {
  for (const error of [rejection(422, 'Invalid', 'no'), rejection(500, '', 'no'), new TypeError('bug'), 'text']) {
    expect(explainRejection(error)).toBe(error);
  }
});
