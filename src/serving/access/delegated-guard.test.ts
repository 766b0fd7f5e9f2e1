import { beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ConnectionError } from '../../client/api-errors.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import type { ServedRequest } from '../served-request.ts';
import { DelegatedGuard } from './delegated-guard.ts';
import { Reviewer } from './reviewer.ts';

const clock = new VirtualClock();
/** What the API server was asked, `kind subject`. */
let asked: string[];
/** Its answers, or what becomes of the call. */
let answer: (kind: string, spec: Record<string, unknown>) => unknown;
let warnings: string[];
let guard: DelegatedGuard;

const users: Readonly<Record<string, object>> = {
  good: { username: 'ann', groups: ['system:authenticated'] },
  other: { username: 'bob', groups: ['system:authenticated'] },
  admin: { username: 'root', groups: ['system:masters'] },
};

beforeEach(() => {
  asked = [];
  warnings = [];
  answer = (kind, spec) => {
    if (kind === 'SubjectAccessReview') return { allowed: spec.user === 'ann' };
    const user = users[String(spec.token)];
    return user === undefined ? { authenticated: false } : { authenticated: true, user };
  };
  const client = {
    create: async <T>(_path: string, body: unknown): Promise<T> => {
      const { kind, spec } = body as { kind: string; spec: Record<string, unknown> };
      asked.push(`${kind} ${String(spec.token ?? spec.user)}`);
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

describe('who is let in', () => {
  it('by a token is whom the API server allows', async () => {
    expect(await ask({ token: 'good' })).toBe(200);
    expect(await ask({ token: 'other' })).toBe(403);
    expect(await ask({ token: 'wrong' })).toBe(401);
  });

  it('is told who may not, and what, in the words of Kubernetes', async () => {
    const request = { method: 'GET', path: '/metrics', query: '', address: '' } as const;
    expect(JSON.parse((await guard.rejection(request, '/metrics'))!.text)).toMatchObject({
      message: 'forbidden: User "system:anonymous" cannot get path "/metrics"',
      reason: 'Forbidden',
      code: 403,
    });
  });

  it('is anonymous without credentials, or with some that are no token', async () => {
    for (const authorization of [undefined, 'Basic YTpi', 'Bearer', 'Bearer ', 'Bearer\t', '']) {
      expect(await ask(authorization === undefined ? {} : { authorization })).toBe(403);
    }
    expect(asked).toEqual(['SubjectAccessReview system:anonymous']);
  });

  it('is everybody on the paths that are always allowed, and nobody is asked about it', async () => {
    expect(await ask({ token: 'wrong' }, '/livez')).toBe(200);
    expect(await ask({ path: '/livez/ping' }, '/livez')).toBe(200);
    expect(await ask({}, '/open/a')).toBe(200);
    expect(asked).toEqual([]);
    expect(await ask({}, '/livezz')).toBe(403);
    expect(await ask({}, '/open')).toBe(403);
  });

  it('is always an administrator', async () => {
    expect(await ask({ token: 'admin' })).toBe(200);
    expect(asked).toEqual(['TokenReview admin']);
  });

  it('by a certificate is its common name; a bad one counts as nothing beside a good token', async () => {
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

  it('is nobody when the API server cannot be asked, which is logged once', async () => {
    answer = () => {
      throw new ConnectionError('rejected', { ambiguous: false, cause: undefined });
    };
    expect(await ask({ token: 'good' })).toBe(503);
    expect(await ask({ token: 'good' })).toBe(503);
    expect(warnings).toHaveLength(1);
    answer = () => 'no object';
    expect(await ask({ token: 'good' })).toBe(503);
    answer = () => ({ authenticated: 'yes', user: { username: 'ann' }, allowed: 'yes' });
    expect(await ask({ token: 'good' })).toBe(401);
    expect(await ask()).toBe(403);
  });
});

describe('the API server is asked', () => {
  it('once by many who ask the same at the same time', async () => {
    const asking = Array.from({ length: 50 }, (_, index) => ask({ token: 'good', address: `10.0.0.${index}` }));
    expect(await Promise.all(asking)).toEqual(Array.from({ length: 50 }, () => 200));
    expect(asked).toEqual(['TokenReview good', 'SubjectAccessReview ann']);
  });

  it('again when an answer is too old, good and bad ones each in their time', async () => {
    await ask({ token: 'good' });
    await ask({ token: 'other' });
    const first = asked.length;
    clock.advance(4_999);
    await ask({ token: 'good' });
    await ask({ token: 'other' });
    expect(asked).toHaveLength(first);
    clock.advance(2);
    await ask({ token: 'good' });
    await ask({ token: 'other' });
    expect(asked.slice(first)).toEqual(['SubjectAccessReview bob']);
    clock.advance(5_000);
    await ask({ token: 'good' });
    expect(asked.slice(first + 1)).toEqual(['TokenReview good']);
  });

  it('no more at a time than it should be: one client cannot keep another out', async () => {
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
