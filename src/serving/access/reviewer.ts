import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { ConnectionError, MalformedAnswerError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { AnswerCache } from './answer-cache.ts';

/** Somebody whom the API server knows. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface Decision {
  readonly isAllowed: boolean;
  /** Why, in the API server's words; often empty. */
  readonly reason: string;
}

export interface ReviewerOptions {
  /** On connections of their own, so that no review waits for a bind and no bind for a review. */
  readonly tokens: Pick<KubeClient, 'create'>;
  readonly access: Pick<KubeClient, 'create'>;
  readonly clock: Clock;
  /** How long answers are good, in milliseconds. */
  readonly tokenTtlMs: number;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

const deadlineMs = 5_000;

/**
 * Asks the API server whose token it is and what a user may do, as its own components do: by TokenReview and SubjectAccessReview. Answers,
 * good and bad, are good for a time; the same question is asked once at a time. `client` is who asks, for fairness. Rejects with
 * what the API client rejects with, or with TooManyCallsError.
 */
export class Reviewer {
  readonly #options: ReviewerOptions;
  readonly #users: AnswerCache<User | 'nobody'>;
  readonly #decisions: AnswerCache<Decision>;
  /** Tokens are not kept: only what tells them apart. */
  readonly #secret = randomBytes(32);

  constructor(options: ReviewerOptions) {
    this.#options = options;
    const { clock, tokenTtlMs, authorizedTtlMs, unauthorizedTtlMs } = options;
    this.#users = new AnswerCache({ clock, goodForMs: () => tokenTtlMs });
    const goodForMs = ({ isAllowed }: Decision): number => (isAllowed ? authorizedTtlMs : unauthorizedTtlMs);
    this.#decisions = new AnswerCache({ clock, goodForMs });
  }

  /** Whose token it is. */
  userOf(token: string, client: string): Promise<User | 'nobody'> {
    const key = createHmac('sha256', this.#secret).update(token).digest('base64');
    return this.#users.get(key, client, async () =>
      userIn(await review(this.#options.tokens, 'TokenReview', { token })),
    );
  }

  /** Whether the user may get the path. */
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

/** kind -> where it is created */
const groups = { TokenReview: 'authentication.k8s.io', SubjectAccessReview: 'authorization.k8s.io' } as const;

/** What the server says to it; asked a second time over when the connection was lost, which does no harm. */
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

function userIn(status: object): User | 'nobody' {
  const { authenticated, user } = status as {
    readonly authenticated?: unknown;
    readonly user?: { readonly username?: string } & Partial<Pick<User, 'uid' | 'groups' | 'extra'>>;
  };
  if (authenticated !== true || user?.username === undefined || user.username === '') return 'nobody';
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
