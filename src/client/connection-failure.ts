import { ConnectionError, UnreachableError } from './api-errors.ts';
import { DialError } from './http/dial.ts';
import { tlsProblem } from './http/tls-problem.ts';

/**
 * Converts a transport's failure to a typed error. It is ambiguous unless the call only reads or the connection was never made: a
 * reset may come before, during or after the server's work, and the client cannot tell which. If the transport knows better, it
 * throws a ConnectionError itself, which is returned unchanged.
 */
export function connectionFailure(method: string, path: string, error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const problem = tlsProblem(error);
  const text = problem?.message ?? (error instanceof Error ? error.message || error.name : String(error));
  if (error instanceof DialError || problem?.isRejection === true) {
    return new UnreachableError(`${method} ${path} got no response: ${text}`, { cause: error });
  }
  const ambiguous = method !== 'GET';
  const outcome = ambiguous ? '; the server may have carried it out' : '';
  return new ConnectionError(`${method} ${path} got no response${outcome}: ${text}`, { ambiguous, cause: error });
}
