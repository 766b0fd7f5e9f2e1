import { messageOf } from '../../base/message-of.ts';
import type { Logger } from '../../observability/logger.ts';
import { statusAnswer } from '../json-answer.ts';
import type { Guard } from '../request-handler.ts';
import type { Answer } from '../route.ts';
import type { ClientCertificate, ServedRequest } from '../served-request.ts';
import { TooManyCallsError } from './answer-cache.ts';
import type { Reviewer, User } from './reviewer.ts';

export interface DelegatedGuardOptions {
  readonly reviewer: Pick<Reviewer, 'userOf' | 'decide'>;
  /** Paths that anyone may get, such as `/livez`; `/a/*` matches all paths that start with `/a/`. */
  readonly alwaysAllowPaths: readonly string[];
  readonly logger: Logger;
}

const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
const administrators = 'system:masters';
/** The group of every authenticated user. A TokenReview includes it; for certificates the guard adds it. */
const authenticated = 'system:authenticated';

/**
 * Admits a request if the API server allows it, as kube-scheduler does. The client certificate identifies the user, otherwise the
 * bearer token; without either the user is system:anonymous. The API server then decides whether that user may get the path.
 * Wrong credentials are 401, missing permission is 403. While the API server does not respond, every request is rejected.
 */
export class DelegatedGuard implements Guard {
  readonly #options: DelegatedGuardOptions;
  /** Whether the failure was logged; reset once the API server responds. */
  #hasFailed = false;

  constructor(options: DelegatedGuardOptions) {
    this.#options = options;
  }

  async rejection(request: ServedRequest, routePath: string): Promise<Answer | undefined> {
    // First of all, so that the liveness of this process never depends on the API server.
    if (this.#isAlwaysAllowed(request.path) || this.#isAlwaysAllowed(routePath)) return undefined;
    try {
      return await this.#decide(request);
    } catch (error) {
      if (error instanceof TooManyCallsError) return tooMany;
      this.#failed(error);
      return cannotReview;
    }
  }

  async #decide({ certificate, authorization, path, address }: ServedRequest): Promise<Answer | undefined> {
    const user = await this.#userOf(certificate, tokenIn(authorization), address);
    if (user === undefined) return unauthorized;
    if (user.groups.includes(administrators)) return undefined;
    const { isAllowed, reason } = await this.#options.reviewer.decide(user, path, address);
    this.#hasFailed = false;
    if (isAllowed) return undefined;
    const because = reason === '' ? '' : `: ${reason}`;
    return statusAnswer(403, 'Forbidden', `forbidden: User "${user.name}" cannot get path "${path}"${because}`);
  }

  /** Returns the user, or undefined if the credentials are wrong. One valid credential is enough. */
  async #userOf(
    certificate: ClientCertificate | undefined,
    token: string | undefined,
    address: string,
  ): Promise<User | undefined> {
    if (certificate?.isVerified === true && certificate.commonName !== '') {
      return { name: certificate.commonName, groups: [...certificate.organizations, authenticated] };
    }
    if (token !== undefined) {
      const user = await this.#options.reviewer.userOf(token, address);
      return user === 'unauthenticated' ? undefined : user;
    }
    return certificate?.isVerified === false ? undefined : anonymous;
  }

  #isAlwaysAllowed(path: string): boolean {
    return this.#options.alwaysAllowPaths.some((allowed) =>
      allowed.endsWith('*') ? path.startsWith(allowed.slice(0, -1)) : path === allowed,
    );
  }

  #failed(error: unknown): void {
    const fields = { error: messageOf(error) };
    const message = 'cannot authenticate or authorize requests; rejecting them until the API server responds';
    if (this.#hasFailed) this.#options.logger.debug(message, fields);
    else this.#options.logger.warn(message, fields);
    this.#hasFailed = true;
  }
}

/** Returns the token after `Bearer`; as in Kubernetes, any other kind of authorization counts as none. */
function tokenIn(authorization: string | undefined): string | undefined {
  return /^\s*bearer +([^\s]+)(\s|$)/i.exec(authorization ?? '')?.[1];
}

const unauthorized = statusAnswer(401, 'Unauthorized', 'Unauthorized');
const cannotReview = statusAnswer(
  503,
  'ServiceUnavailable',
  'the API server could not review this request: see the log',
);
const tooMany: Answer = {
  ...statusAnswer(429, 'TooManyRequests', 'too many requests are waiting for a review: retry in a second'),
  headers: { 'retry-after': '1' },
};
