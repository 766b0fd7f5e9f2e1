import { beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ConnectionError } from '../../client/api-errors.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import type { ServedRequest } from '../served-request.ts';
import { DelegatedGuard } from './delegated-guard.ts';
import { Reviewer } from './reviewer.ts';

const clock = new VirtualClock();
/** Reviews that the API server received, as `kind subject`. */
let reviews: string[];
/** Returns the API server's response, or throws. */
let answer: (kind: string, spec: Record<string, unknown>) => unknown;
let warnings: string[];
let guard: DelegatedGuard;

const users: Readonly<Record<string, object>> = {
  good: { username: 'ann', groups: ['system:authenticated'] },
  other: { username: 'bob', groups: ['system:authenticated'] },
  admin: { username: 'root', groups: ['system:masters'] },
};

beforeEach(() => {
  reviews = [];
  warnings = [];
  answer = (kind, spec) => {
    if (kind === 'SubjectAccessReview') return { allowed: spec.user === 'ann' };
    const user = users[String(spec.token)];
    return user === undefined ? { authenticated: false } : { authenticated: true, user };
  };
  const client = {
    create: async <T>(_path: string, body: unknown): Promise<T> => {
      const { kind, spec } = body as { kind: string; spec: Record<string, unknown> };
      reviews.push(`${kind} ${String(spec.token ?? spec.user)}`);
      return { status: await answer(kind, spec) } as T;
    },
  };
  const ttls = { tokenTtlMs: 10_000, authorizedTtlMs: 20_000, unauthorizedTtlMs: 5_000 };
  guard = new DelegatedGuard({
    reviewer: new Reviewer({ tokens: client, access: client, clock, ...ttls }),
    alwaysAllowPaths: ['/livez', '/open/*'],
    logger: { ...silentLogger, warn: (message) => void warnings.push(message) },
  });
});

async function ask(
  request: Partial<ServedRequest> & { readonly token?: string } = {},
  route = '/metrics',
): Promise<unknown> {
  const { token, ...rest } = request;
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const whole = { method: 'GET', path: route, query: '', address: '10.0.0.1', ...authorization, ...rest } as const;
  const rejection = await guard.rejection(whole, route);
  return rejection === undefined ? 200 : rejection.status;
}

describe('the guard', () => {
  it('admits the users of tokens that the API server authorizes', async () => {
    expect(await ask({ token: 'good' })).toBe(200);
    expect(await ask({ token: 'other' })).toBe(403);
    expect(await ask({ token: 'wrong' })).toBe(401);
  });

  it('rejects with a Kubernetes Status that names the user and the path', async () => {
    const request = { method: 'GET', path: '/metrics', query: '', address: '' } as const;
    expect(JSON.parse((await guard.rejection(request, '/metrics'))!.text)).toMatchObject({
      message: 'forbidden: User "system:anonymous" cannot get path "/metrics"',
      reason: 'Forbidden',
      code: 403,
    });
  });

  it('treats requests without a bearer token as anonymous', async () => {
    for (const authorization of [undefined, 'Basic YTpi', 'Bearer', 'Bearer ', 'Bearer\t', '']) {
      expect(await ask(authorization === undefined ? {} : { authorization })).toBe(403);
    }
    expect(reviews).toEqual(['SubjectAccessReview system:anonymous']);
  });

  it('admits anyone to paths that are always allowed, without a review', async () => {
    expect(await ask({ token: 'wrong' }, '/livez')).toBe(200);
    expect(await ask({ path: '/livez/ping' }, '/livez')).toBe(200);
    expect(await ask({}, '/open/a')).toBe(200);
    expect(reviews).toEqual([]);
    expect(await ask({}, '/livezz')).toBe(403);
    expect(await ask({}, '/open')).toBe(403);
  });

  it('always admits administrators', async () => {
    expect(await ask({ token: 'admin' })).toBe(200);
    expect(reviews).toEqual(['TokenReview admin']);
  });

  it("identifies a user by the certificate's common name, and ignores an invalid certificate with a valid token", async () => {
    const certificate = { isVerified: true, commonName: 'ann', organizations: ['team'] } as const;
    expect(await ask({ certificate })).toBe(200);
    expect(await ask({ certificate: { ...certificate, commonName: 'eve' } })).toBe(403);
    expect(await ask({ certificate: { ...certificate, commonName: 'eve', organizations: ['system:masters'] } })).toBe(
      200,
    );
    const bad = { isVerified: false, problem: 'CERT_HAS_EXPIRED' } as const;
    expect(await ask({ certificate: bad })).toBe(401);
    expect(await ask({ certificate: bad, token: 'good' })).toBe(200);
  });

  it('rejects every request while the API server does not respond, and logs that once', async () => {
    answer = () => {
      throw new ConnectionError('rejected', { ambiguous: false, cause: undefined });
    };
    expect(await ask({ token: 'good' })).toBe(503);
    expect(await ask({ token: 'good' })).toBe(503);
    expect(warnings).toHaveLength(1);
    answer = () => 'not an object';
    expect(await ask({ token: 'good' })).toBe(503);
    answer = () => ({ authenticated: 'yes', user: { username: 'ann' }, allowed: 'yes' });
    expect(await ask({ token: 'good' })).toBe(401);
    expect(await ask()).toBe(403);
  });
});

describe('reviews', () => {
  it('are shared by concurrent identical requests', async () => {
    const responses = Array.from({ length: 50 }, (_, index) => ask({ token: 'good', address: `10.0.0.${index}` }));
    expect(await Promise.all(responses)).toEqual(Array.from({ length: 50 }, () => 200));
    expect(reviews).toEqual(['TokenReview good', 'SubjectAccessReview ann']);
  });

  it('are cached, each result for its own time to live', async () => {
    await ask({ token: 'good' });
    await ask({ token: 'other' });
    const first = reviews.length;
    clock.advance(4_999);
    await ask({ token: 'good' });
    await ask({ token: 'other' });
    expect(reviews).toHaveLength(first);
    clock.advance(2);
    await ask({ token: 'good' });
    await ask({ token: 'other' });
    expect(reviews.slice(first)).toEqual(['SubjectAccessReview bob']);
    clock.advance(5_000);
    await ask({ token: 'good' });
    expect(reviews.slice(first + 1)).toEqual(['TokenReview good']);
  });

  it('are limited in number, so that one client cannot block another', async () => {
    const ends: (() => void)[] = [];
    answer = () => new Promise((resolve) => ends.push(() => resolve({ authenticated: false })));
    const flood = Array.from({ length: 200 }, (_, index) => ask({ token: `made-up-${index}`, address: 'evil' }));
    const other = ask({ token: 'made-up-too', address: 'good' });
    await Promise.resolve();
    expect(ends).toHaveLength(5);
    for (const end of ends) end();
    expect((await Promise.all(flood)).filter((status) => status === 429)).toHaveLength(196);
    expect(await other).toBe(401);
  });
});
