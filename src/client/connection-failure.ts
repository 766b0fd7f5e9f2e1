import { ConnectionError } from './api-errors.ts';

/** undici's codes for a request that never left. */
const neverSentCodes = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_CLOSED']);
/** Codes of a TLS handshake that failed on certificates: CERT_HAS_EXPIRED, DEPTH_ZERO_SELF_SIGNED_CERT, … */
const certificateCode = /CERT|UNABLE_TO_|HOSTNAME_MISMATCH/;

/**
 * A transport's failure as a typed error. Ambiguous unless the call only reads or the connection was never made: a reset
 * may come before, during or after the server's work, and nothing on this side can tell which. A transport that knows
 * better throws a ConnectionError itself, which is kept.
 */
export function connectionFailure(method: string, path: string, error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const ambiguous = method !== 'GET' && !wasNeverSent(error);
  const said = error instanceof Error ? rootMessage(error) : String(error);
  const outcome = ambiguous ? '; it may have been carried out' : '';
  return new ConnectionError(`${method} ${path} got no answer${outcome}: ${said}`, { ambiguous, cause: error });
}

function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(wasNeverSent);
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
  if (code !== undefined && (neverSentCodes.has(code) || certificateCode.test(code))) return true;
  return error.cause !== undefined && wasNeverSent(error.cause);
}

function rootMessage(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message;
  return error.message === '' ? error.name : error.message;
}
