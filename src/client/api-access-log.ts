import type { Clock, Timer } from '../base/clock.ts';
import { messageOf } from '../base/message-of.ts';
import type { LogFields, Logger } from '../observability/logger.ts';
import { explainRejection } from './access-denied-error.ts';
import { ApiError, ForbiddenError, UnauthorizedError, UnreachableError } from './api-errors.ts';
import { missingPermission } from './missing-permission.ts';

export interface ApiAccessLogOptions {
  /** Address of the API server, as in Endpoint. */
  readonly server: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Rejection {
  /** For the summary: `list nodes`. */
  readonly what: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** Time between two lines about problems that last. */
const repeatAfterMs = 60_000;
/** Time after which a permission that nothing has requested counts as never missed. */
const forgetAfterMs = 600_000;

/**
 * Logs for all calls of a process whether the API server is reachable and accepts them, so that each problem has one line, however many
 * calls it affects:
 * - an error when the server becomes unreachable, and a line when it responds again;
 * - an error for each missing permission, with verb and resource, and for credentials that the server rejects;
 * - one warning a minute about each of the two while it lasts.
 * Other components log these failures at level debug, see `isAccessProblem`.
 */
export class ApiAccessLog {
  readonly #options: ApiAccessLogOptions;
  /** Clock.monotonic() since which the server is unreachable; undefined while it responds. */
  #unreachableSince: number | undefined;
  /** Clock.monotonic() of the last error about an unreachable server. */
  #reportedAt = -Infinity;
  /** `list nodes` -> Clock.monotonic() of the last rejection */
  readonly #rejectedAt = new Map<string, number>();
  #timer: Timer | undefined;

  constructor(options: ApiAccessLogOptions) {
    this.#options = options;
  }

  /** Reports that the server responded to a call. */
  answered(): void {
    if (this.#unreachableSince === undefined) return;
    const { server, clock, logger } = this.#options;
    const afterMs = clock.monotonic() - this.#unreachableSince;
    const isReported = this.#unreachableSince <= this.#reportedAt;
    this.#unreachableSince = undefined;
    logger[isReported ? 'info' : 'debug']('API server responds again', { server, afterMs });
  }

  /** Reports the typed error of a call. */
  failed(error: Error): void {
    if (error instanceof UnreachableError) this.#unreachable(error);
    if (!(error instanceof ApiError)) return;
    this.answered();
    const rejection = rejectionOf(error);
    if (rejection !== undefined) this.#rejected(rejection);
  }

  /** Logs nothing more about problems that last. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #unreachable(error: UnreachableError): void {
    if (this.#unreachableSince !== undefined) return;
    const { server, clock, logger } = this.#options;
    this.#unreachableSince = clock.monotonic();
    const fields = { server, error: error.message };
    // A server that comes and goes has no more than a line a minute either.
    const isNews = this.#unreachableSince - this.#reportedAt >= repeatAfterMs;
    logger[isNews ? 'error' : 'debug'](unreachable, fields);
    if (isNews) this.#reportedAt = this.#unreachableSince;
    this.#repeatLater();
  }

  #rejected({ what, message, fields }: Rejection): void {
    const { server, clock, logger } = this.#options;
    if (!this.#rejectedAt.has(what)) logger.error(message, { ...fields, server });
    this.#rejectedAt.set(what, clock.monotonic());
    this.#repeatLater();
  }

  #repeatLater(): void {
    this.#timer ??= this.#options.clock.setTimer(repeatAfterMs, () => {
      this.#timer = undefined;
      this.#repeat();
    });
  }

  #repeat(): void {
    const { server, clock, logger } = this.#options;
    const now = clock.monotonic();
    if (this.#unreachableSince !== undefined) {
      this.#reportedAt = now;
      logger.warn('API server is still unreachable', { server, forMs: now - this.#unreachableSince });
    }
    const recent: string[] = [];
    for (const [what, at] of this.#rejectedAt) {
      if (now - at > forgetAfterMs) this.#rejectedAt.delete(what);
      else if (now - at <= repeatAfterMs) recent.push(what);
    }
    if (recent.length > 0) logger.warn('API server still rejects access', { rejected: recent.join(', '), server });
    if (this.#unreachableSince !== undefined || this.#rejectedAt.size > 0) this.#repeatLater();
  }
}

/** Returns whether an ApiAccessLog reports this error of a call, so that no other line about it is necessary. */
export function isAccessProblem(error: unknown): boolean {
  return error instanceof UnreachableError || rejectionOf(error) !== undefined;
}

const unreachable = 'cannot reach the API server, retrying';

function rejectionOf(error: unknown): Rejection | undefined {
  const permission = missingPermission(error);
  if (permission !== undefined) {
    const { verb, resource, namespace, user } = permission;
    const message = 'API server rejects access: grant this user the missing permission';
    return {
      what: `${verb} ${resource}`,
      message,
      fields: { verb, resource, ...(namespace !== undefined && { namespace }), user },
    };
  }
  // A 403 without these words comes from a proxy if the call reads, and from admission if it writes.
  const isRejected =
    error instanceof UnauthorizedError || (error instanceof ForbiddenError && error.request.startsWith('GET '));
  if (!isRejected) return undefined;
  const fields = { error: messageOf(explainRejection(error)) };
  return { what: `all requests (${error.status})`, message: 'API server rejects access, retrying', fields };
}
