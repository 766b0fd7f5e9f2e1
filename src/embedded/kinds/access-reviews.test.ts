import { expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';

it.each([
  ['authorization.k8s.io', 'SubjectAccessReview', { allowed: true }],
  ['authentication.k8s.io', 'TokenReview', { authenticated: true, user: { username: 'system:anonymous' } }],
])('answers those who ask about others the same: %s %s', async (group, kind, status) => {
  const path = `/apis/${group}/v1/${kind.toLowerCase()}s`;
  const answer = await new ApiClient().create(path, {
    apiVersion: `${group}/v1`,
    kind,
    spec: { token: 'a', user: 'b' },
  });
  expect(answer.body).toMatchObject({ kind, status });
});

it('says that everything is allowed because authorization is disabled', async () => {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const client = new ApiClient();
  const answer = await client.create(path, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb: 'create', resource: 'pods' } },
  });
  expect(answer.status).toBe(201);
  expect(answer.body.status).toEqual({ allowed: true, reason: 'authorization disabled' });
  expect((await client.get(path)).status).toBe(405);
});
