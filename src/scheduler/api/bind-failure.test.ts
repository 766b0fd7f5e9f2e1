import { expect, test } from 'vitest';
import { ConnectionError, MalformedAnswerError, TimeoutError, WithdrawnError } from '../../client/api-errors.ts';
import { errorFromResponse } from '../../client/parse-status.ts';
import { bindFailureOf } from './bind-failure.ts';
import type { BindFailure } from './bind-failure.ts';

function responseError(status: number, reason: string): Error {
  const body = reason === '' ? '<html>sorry</html>' : JSON.stringify({ kind: 'Status', code: status, reason });
  return errorFromResponse('POST /api/v1/namespaces/default/pods/red-0/binding', status, {}, body, 0);
}

test.each<[BindFailure, string, Error]>([
  ['rejected', '400', responseError(400, 'BadRequest')],
  ['rejected', '401', responseError(401, 'Unauthorized')],
  ['rejected', '403', responseError(403, 'Forbidden')],
  ['gone', '404', responseError(404, 'NotFound')],
  ['rejected', '404 from a proxy', responseError(404, '')],
  ['conflict', '409', responseError(409, 'Conflict')],
  ['conflict', '409 AlreadyExists', responseError(409, 'AlreadyExists')],
  ['rejected', '422', responseError(422, 'Invalid')],
  ['busy', '429', responseError(429, 'TooManyRequests')],
  ['unclear', '500', responseError(500, 'InternalError')],
  ['unclear', '503', responseError(503, 'ServiceUnavailable')],
  ['lost', '504: the request took too long on the server', responseError(504, 'Timeout')],
  ['lost', '502 from a proxy', responseError(502, '')],
  ['unclear', 'an unreadable response', new MalformedAnswerError('cut short')],
  ['lost', 'a broken connection', new ConnectionError('reset', { ambiguous: true, cause: undefined })],
  ['busy', 'a connection that was never made', new ConnectionError('no', { ambiguous: false, cause: undefined })],
  ['lost', 'a timeout', new TimeoutError('slow', { ambiguous: true })],
  ['rejected', 'a withdrawn binding', new WithdrawnError('its group is gone')],
  ['rejected', 'any other error', new Error('a defect')],
])('a failed Binding is %s: %s', (failure, _cause, error) => {
  expect(bindFailureOf(error)).toBe(failure);
});
