import { expect, test } from 'vitest';
import { ConnectionError, MalformedAnswerError, TimeoutError, WithdrawnError } from '../../client/api-errors.ts';
import { errorFromResponse } from '../../client/parse-status.ts';
import { bindFailureOf } from './bind-failure.ts';
import type { BindFailure } from './bind-failure.ts';

function answered(status: number, reason: string): Error {
  const body = reason === '' ? '<html>sorry</html>' : JSON.stringify({ kind: 'Status', code: status, reason });
  return errorFromResponse('POST /api/v1/namespaces/default/pods/red-0/binding', status, {}, body, 0);
}

test.each<[BindFailure, string, Error]>([
  ['rejected', '400', answered(400, 'BadRequest')],
  ['rejected', '401', answered(401, 'Unauthorized')],
  ['rejected', '403', answered(403, 'Forbidden')],
  ['gone', '404', answered(404, 'NotFound')],
  ['rejected', '404 of somebody on the way', answered(404, '')],
  ['conflict', '409', answered(409, 'Conflict')],
  ['conflict', '409 AlreadyExists', answered(409, 'AlreadyExists')],
  ['rejected', '422', answered(422, 'Invalid')],
  ['busy', '429', answered(429, 'TooManyRequests')],
  ['unclear', '500', answered(500, 'InternalError')],
  ['unclear', '503', answered(503, 'ServiceUnavailable')],
  ['lost', '504: its own work took too long', answered(504, 'Timeout')],
  ['lost', '502 of somebody on the way', answered(502, '')],
  ['unclear', 'an answer that cannot be read', new MalformedAnswerError('cut short')],
  ['lost', 'a connection that broke', new ConnectionError('reset', { ambiguous: true, cause: undefined })],
  ['busy', 'a connection that was never made', new ConnectionError('no', { ambiguous: false, cause: undefined })],
  ['lost', 'no answer in time', new TimeoutError('slow', { ambiguous: true })],
  ['rejected', 'what nobody wants any more', new WithdrawnError('its group is gone')],
  ['rejected', 'anything else', new Error('a defect')],
])('a Binding is %s: %s', (failure, _cause, error) => {
  expect(bindFailureOf(error)).toBe(failure);
});
