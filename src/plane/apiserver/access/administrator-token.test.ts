import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import { configMapsPath } from '../testing/manifests.ts';

const token = 'a-secret-that-is-long-enough';

function get(client: ApiClient, path: string, headers: Record<string, string> = {}): ReturnType<ApiClient['send']> {
  return client.send('GET', path, undefined, headers);
}

describe('a server with an administrator token', () => {
  it('accepts the token, and rejects impersonation', async () => {
    const client = new ApiClient({ administratorToken: token });
    expect((await get(client, configMapsPath, { authorization: `Bearer ${token}` })).status).toBe(200);
    const impersonated = { authorization: `Bearer ${token}`, 'impersonate-user': 'alice' };
    expect((await get(client, configMapsPath, impersonated)).status).toBe(403);
  });

  it.each<[string, Record<string, string>]>([
    ['no token', {}],
    ['an empty header', { authorization: '' }],
    ['another token', { authorization: `Bearer ${token}x` }],
    ['a prefix of the token', { authorization: `Bearer ${token.slice(0, -1)}` }],
    ['a password', { authorization: 'Basic YTpi' }],
  ])('rejects requests with %s at every path', async (_case, headers) => {
    const client = new ApiClient({ administratorToken: token });
    for (const path of [configMapsPath, '/api', '/apis', '/openapi/v3', '/nowhere']) {
      const rejected = await get(client, path, headers);
      expect([path, rejected.status, rejected.body.reason]).toEqual([path, 401, 'Unauthorized']);
    }
    const written = await client.send('POST', configMapsPath, { metadata: { name: 'a' } }, headers);
    expect(written.status).toBe(401);
  });

  it('serves its version and health without a token, as a cluster does', async () => {
    const client = new ApiClient({ administratorToken: token });
    for (const path of ['/version', '/healthz', '/livez', '/readyz'])
      expect((await get(client, path)).status).toBe(200);
  });

  it('points to the kubeconfig if the request has no token', async () => {
    const client = new ApiClient({ administratorToken: token });
    expect((await get(client, configMapsPath)).body.message).toContain(
      'use the kubeconfig that was written for this control plane',
    );
  });

  it('rejects impersonation without a token', async () => {
    const client = new ApiClient({ administratorToken: token });
    expect((await get(client, configMapsPath, { 'impersonate-user': 'kubernetes-admin' })).status).toBe(403);
  });
});
