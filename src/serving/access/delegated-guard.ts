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
  /** Paths that everybody may get, `/livez`; `/a/*`: all that begin with `/a/`. */
  readonly alwaysAllowPaths: readonly string[];
  readonly logger: Logger;
}

const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
const administrators = 'system:masters';
/** What everybody is in who was let in, but by a TokenReview, which says so itself. */
const authenticated = 'system:authenticated';

/**
 * Lets in whom the API server lets in, as kube-scheduler does: the client certificate says who it is, else the bearer token, and who shows
 * neither is system:anonymous; then the server decides whether that user may get the path. Wrong credentials are 401, missing rights
 * 403. When the server cannot be asked nobody is let in.
 */
export class DelegatedGuard implements Guard {
  readonly #options: DelegatedGuardOptions;
  /** Said once, until the server answers again. */
  #hasFailed = false;

  constructor(options: DelegatedGuardOptions) {
    this.#options = options;
  }

  async rejection(request: ServedRequest, routePath: string): Promise<Answer | undefined> {
    // Before any question, so that whether this process lives never depends on whether the API server does.
    if (this.#isAlwaysAllowed(request.path) || this.#isAlwaysAllowed(routePath)) return undefined;
    try {
      return await this.#decide(request);
    } catch (error) {
      if (error instanceof TooManyCallsError) return tooMany;
      this.#failed(error);
      return cannotAsk;
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

  /** Undefined: what was shown is nobody's. One good proof is enough. */
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
      return user === 'nobody' ? undefined : user;
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
    const message = 'cannot ask the API server who may read what is served; nobody may until it answers';
    if (this.#hasFailed) this.#options.logger.debug(message, fields);
    else this.#options.logger.warn(message, fields);
    this.#hasFailed = true;
  }
}

/** What follows `Bearer`; as in Kubernetes, any other kind of authorization counts as none. */
function tokenIn(authorization: string | undefined): string | undefined {
  return /^\s*bearer +([^\s]+)(\s|$)/i.exec(authorization ?? '')?.[1];
}

const unauthorized = statusAnswer(401, 'Unauthorized', 'Unauthorized');
const cannotAsk = statusAnswer(
  503,
  'ServiceUnavailable',
  'the API server could not be asked who may read this: see the log',
);
const tooMany: Answer = {
  ...statusAnswer(429, 'TooManyRequests', 'too many clients are being asked about: ask again in a second'),
  headers: { 'retry-after': '1' },
};
