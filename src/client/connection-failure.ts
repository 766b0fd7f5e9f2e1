import { ConnectionError } from './api-errors.ts';
import { DialError } from './http/dial.ts';

/**
 * A transport's failure as a typed error. Ambiguous unless the call only reads or the connection was never made: a reset
 * may come before, during or after the server's work, and nothing on this side can tell which. A transport that knows
 * better throws a ConnectionError itself, which is kept.
 */
export function connectionFailure(method: string, path: string, error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const ambiguous = method !== 'GET' && !(error instanceof DialError);
  const said = error instanceof Error ? error.message || error.name : String(error);
  const outcome = ambiguous ? '; it may have been carried out' : '';
  return new ConnectionError(`${method} ${path} got no answer${outcome}: ${said}`, { ambiguous, cause: error });
}
