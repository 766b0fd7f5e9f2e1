import { expect, it } from 'vitest';
import { UserError } from '../base/user-error.ts';
import { explainRejection } from './access-denied-error.ts';
import { errorFromResponse } from './parse-status.ts';

const answered = (code: number, reason: string, message: string): Error =>
  errorFromResponse('GET /version', code, {}, JSON.stringify({ kind: 'Status', code, reason, message }), 0);

it('says what the server said to whom it does not know, and what can be done', () => {
  const rejected = explainRejection(answered(401, 'Unauthorized', 'Unauthorized'));
  expect(rejected).toBeInstanceOf(UserError);
  expect(rejected).toMatchObject({
    name: 'AccessDeniedError',
    message:
      'GET /version was answered 401 Unauthorized: Unauthorized. The server does not know these credentials, or they have expired: renew them, or choose others with --kubeconfig and --context',
    cause: { name: 'UnauthorizedError' },
  });
});

it('says which role is missing to whom the server knows', () => {
  const rejected = explainRejection(answered(403, 'Forbidden', 'User "eve" cannot get path "/version".'));
  expect(rejected).toBeInstanceOf(UserError);
  expect((rejected as Error).message).toMatch(
    /403 Forbidden: User "eve" cannot get path "\/version"\. The server knows this user, who may not do that: give the user a role/,
  );
});

it('leaves every other error as it is', () => {
  for (const error of [answered(422, 'Invalid', 'no'), answered(500, '', 'no'), new TypeError('bug'), 'text']) {
    expect(explainRejection(error)).toBe(error);
  }
});
