import { request as send } from 'node:http';
import { messageOf } from '../../base/message-of.ts';
import { UserError } from '../../base/user-error.ts';
import type { DebugEndpoints } from './debug-endpoints.ts';

/** The scheduler of this process does not answer. */
export class SchedulerRequestError extends UserError {
  override readonly name = 'SchedulerRequestError';
}

/** Returns the endpoints of a scheduler that serves them without TLS and without a token, as that of `tutti up` does. */
export function httpEndpoints(url: string): DebugEndpoints {
  return {
    get: ({ path, headers, signal }) =>
      new Promise((resolve, reject) => {
        const fail = (cause: Error): void =>
          reject(new SchedulerRequestError(`the scheduler did not answer GET ${path}: ${messageOf(cause)}`, { cause }));
        send(`${url}${path}`, { headers, signal, agent: false }, (response) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response }),
        )
          .on('error', fail)
          // Without this listener, such an answer would never come.
          .on('upgrade', (_, socket) => {
            socket.destroy();
            fail(new Error('its answer switches to another protocol'));
          })
          .end();
      }),
  };
}
