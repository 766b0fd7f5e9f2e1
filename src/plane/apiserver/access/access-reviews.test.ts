import { expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';

it('says why the administrator may do everything', async () => {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const client = new ApiClient();
  const answer = await client.create(path, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb: 'create', resource: 'pods' } },
  });
  expect(answer.status).toBe(201);
  expect(answer.body.status).toEqual({
    allowed: true,
    reason: 'kubernetes-admin is of the group system:masters',
  });
  expect((await client.get(path)).status).toBe(405);
});
