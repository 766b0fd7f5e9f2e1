import { expect, it } from 'vitest';
import { UserError } from '../base/user-error.ts';
import { explainRefusal } from './access-refused-error.ts';
import { errorFromResponse } from './parse-status.ts';

const answered = (code: number, reason: string, message: string): Error =>
  errorFromResponse('GET /version', code, {}, JSON.stringify({ kind: 'Status', code, reason, message }), 0);

it('says what the server said to whom it does not know, and what can be done', () => {
  const refused = explainRefusal(answered(401, 'Unauthorized', 'Unauthorized'));
  expect(refused).toBeInstanceOf(UserError);
  expect(refused).toMatchObject({
    name: 'AccessRefusedError',
    message:
      'GET /version was answered 401 Unauthorized: Unauthorized. The server does not know these credentials, or they have expired: renew them, or choose others with --kubeconfig and --context',
    cause: { name: 'UnauthorizedError' },
  });
});

it('says which role is missing to whom the server knows', () => {
  const refused = explainRefusal(answered(403, 'Forbidden', 'User "eve" cannot get path "/version".'));
  expect(refused).toBeInstanceOf(UserError);
  expect((refused as Error).message).toMatch(
    /403 Forbidden: User "eve" cannot get path "\/version"\. The server knows this user, who may not do that: give the user a role/,
  );
});

it('leaves every other error as it is', () => {
  for (const error of [answered(422, 'Invalid', 'no'), answered(500, '', 'no'), new TypeError('bug'), 'text']) {
    expect(explainRefusal(error)).toBe(error);
  }
});
