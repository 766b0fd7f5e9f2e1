import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { ConnectionError, MalformedAnswerError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { AnswerCache } from './answer-cache.ts';

/** A user that the API server has authenticated. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface Decision {
  readonly isAllowed: boolean;
  /** The API server's reason; often empty. */
  readonly reason: string;
}

export interface ReviewerOptions {
  /** On separate connections, so that reviews and binds do not wait for each other. */
  readonly tokens: Pick<KubeClient, 'create'>;
  readonly access: Pick<KubeClient, 'create'>;
  readonly clock: Clock;
  /** How long results stay valid, in milliseconds. */
  readonly tokenTtlMs: number;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

const deadlineMs = 5_000;

/**
 * Authenticates tokens and authorizes users through the API server, by TokenReview and SubjectAccessReview. It caches results,
 * positive and negative, for a time; only one call per key is in flight. `client` is the requesting client, for fairness. Rejects
 * with the API client's errors, or with TooManyCallsError.
 */
export class Reviewer {
  readonly #options: ReviewerOptions;
  readonly #users: AnswerCache<User | 'unauthenticated'>;
  readonly #decisions: AnswerCache<Decision>;
  /** Key of the HMAC that identifies tokens, so that the cache does not keep them. */
  readonly #secret = randomBytes(32);

  constructor(options: ReviewerOptions) {
    this.#options = options;
    const { clock, tokenTtlMs, authorizedTtlMs, unauthorizedTtlMs } = options;
    this.#users = new AnswerCache({ clock, goodForMs: () => tokenTtlMs });
    const goodForMs = ({ isAllowed }: Decision): number => (isAllowed ? authorizedTtlMs : unauthorizedTtlMs);
    this.#decisions = new AnswerCache({ clock, goodForMs });
  }

  /** Returns the user of a token. */
  userOf(token: string, client: string): Promise<User | 'unauthenticated'> {
    const key = createHmac('sha256', this.#secret).update(token).digest('base64');
    return this.#users.get(key, client, async () =>
      userIn(await review(this.#options.tokens, 'TokenReview', { token })),
    );
  }

  /** Returns whether the user may get the path. */
  decide({ name, uid, groups, extra }: User, path: string, client: string): Promise<Decision> {
    const spec = {
      user: name,
      groups,
      ...(uid !== undefined && { uid }),
      ...(extra !== undefined && { extra }),
      nonResourceAttributes: { path, verb: 'get' },
    };
    return this.#decisions.get(JSON.stringify(spec), client, async () =>
      decisionIn(await review(this.#options.access, 'SubjectAccessReview', spec)),
    );
  }
}

/** kind -> its API group */
const groups = { TokenReview: 'authentication.k8s.io', SubjectAccessReview: 'authorization.k8s.io' } as const;

/** Creates the review and returns its status. Retries once after a lost connection, which is harmless. */
async function review(client: Pick<KubeClient, 'create'>, kind: keyof typeof groups, spec: object): Promise<object> {
  const path = `/apis/${groups[kind]}/v1/${kind.toLowerCase()}s`;
  const call = (): Promise<{ readonly status?: unknown }> =>
    client.create(path, { apiVersion: `${groups[kind]}/v1`, kind, spec }, { timeoutMs: deadlineMs, lane: 'read' });
  const { status } = await call().catch((error: unknown) => {
    if (error instanceof ConnectionError) return call();
    throw error;
  });
  if (typeof status !== 'object' || status === null) throw new MalformedAnswerError(`the ${kind} has no status`);
  return status;
}

function userIn(status: object): User | 'unauthenticated' {
  const { authenticated, user } = status as {
    readonly authenticated?: unknown;
    readonly user?: { readonly username?: string } & Partial<Pick<User, 'uid' | 'groups' | 'extra'>>;
  };
  if (authenticated !== true || user?.username === undefined || user.username === '') return 'unauthenticated';
  const { username, uid, groups: named = [], extra } = user;
  return { name: username, ...(uid !== undefined && { uid }), groups: named, ...(extra !== undefined && { extra }) };
}

function decisionIn(status: object): Decision {
  const { allowed, denied, reason } = status as {
    readonly allowed?: unknown;
    readonly denied?: unknown;
    readonly reason?: string;
  };
  return { isAllowed: allowed === true && denied !== true, reason: reason ?? '' };
}
