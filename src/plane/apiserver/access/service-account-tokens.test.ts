import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json.ts';
import { ApiClient } from '../testing/api-client.ts';
import type { Answer } from '../testing/api-client.ts';

const accounts = '/api/v1/namespaces/default/serviceaccounts';
const pods = '/api/v1/namespaces/default/pods';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const robot = 'system:serviceaccount:default:robot';

async function withRobot(): Promise<ApiClient> {
  const client = new ApiClient();
  await client.mustCreate(accounts, { metadata: { name: 'robot' } });
  return client;
}

async function tokenOf(client: ApiClient, spec: JsonObject = {}): Promise<string> {
  const answer = await client.create(`${accounts}/robot/token`, { spec });
  expect(answer.status).toBe(201);
  return answer.body.status.token as string;
}

function as(
  client: ApiClient,
  token: string,
  method: 'GET' | 'POST',
  path: string,
  body?: JsonObject,
): Promise<Answer> {
  return client.send(method, path, body, { authorization: `Bearer ${token}` });
}

function review(client: ApiClient, spec: JsonObject): Promise<Answer> {
  return client.create('/apis/authentication.k8s.io/v1/tokenreviews', { spec });
}

const rule = (verbs: string[], resources: string[], more: JsonObject = {}): JsonObject => ({
  verbs,
  resources,
  apiGroups: [''],
  ...more,
});

async function grant(
  client: ApiClient,
  kind: 'Role' | 'ClusterRole',
  rules: JsonObject[],
  name = 'granted',
): Promise<void> {
  const scope = kind === 'Role' ? `${rbac}/namespaces/default` : rbac;
  await client.mustCreate(`${scope}/${kind.toLowerCase()}s`, { metadata: { name }, rules });
  await client.mustCreate(`${scope}/${kind.toLowerCase()}bindings`, {
    metadata: { name },
    roleRef: { kind, name },
    subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
  });
}

describe('a token of a service account', () => {
  it('is reviewed as that account', async () => {
    const client = await withRobot();
    const answer = await review(client, { token: await tokenOf(client) });
    expect(answer.body.status).toMatchObject({
      authenticated: true,
      user: {
        username: robot,
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      },
    });
    for (const token of ['a.b.c', `${await tokenOf(client)}$`, (await tokenOf(client)).replace(/\.(?=[^.]*$)/, '.$')]) {
      expect((await review(client, { token })).body.status).toMatchObject({ user: {}, error: expect.any(String) });
    }
  });

  it('is good for its audiences only', async () => {
    const client = await withRobot();
    const token = await tokenOf(client, { audiences: ['vault'] });
    expect((await review(client, { token, audiences: ['vault', 'other'] })).body.status).toMatchObject({
      authenticated: true,
      audiences: ['vault'],
    });
    expect((await review(client, { token })).body.status.error).toMatch(/audiences/);
    expect((await as(client, token, 'GET', pods)).status).toBe(401);
  });

  it('is good until it expires', async () => {
    const client = await withRobot();
    const token = await tokenOf(client, { expirationSeconds: 600 });
    client.clock.advance(599_000);
    expect((await as(client, token, 'GET', '/version')).status).toBe(200);
    client.clock.advance(1_000);
    const late = await as(client, token, 'GET', '/version');
    expect(late).toMatchObject({ status: 401, body: { message: expect.stringMatching(/expired/) } });
    expect((await client.create(`${accounts}/robot/token`, { spec: { expirationSeconds: 599 } })).status).toBe(422);
  });

  it('ends with its account, and with the pod that it is bound to', async () => {
    const client = await withRobot();
    const container = { name: 'c', image: 'i' };
    const pod = await client.mustCreate(pods, { metadata: { name: 'p' }, spec: { containers: [container] } });
    const reference = { kind: 'Pod', apiVersion: 'v1', name: 'p' };
    expect(
      (await client.create(`${accounts}/robot/token`, { spec: { boundObjectRef: { ...reference, uid: 'other' } } }))
        .status,
    ).toBe(409);
    expect(
      (await client.create(`${accounts}/robot/token`, { spec: { boundObjectRef: { ...reference, name: 'q' } } }))
        .status,
    ).toBe(404);
    const bound = await tokenOf(client, { boundObjectRef: { ...reference, uid: pod.metadata.uid } });
    const free = await tokenOf(client);
    expect((await review(client, { token: bound })).body.status.user.extra).toMatchObject({
      'authentication.kubernetes.io/pod-name': ['p'],
    });
    await client.delete(`${pods}/p`);
    expect((await as(client, bound, 'GET', '/version')).status).toBe(401);
    expect((await as(client, free, 'GET', '/version')).status).toBe(200);
    await client.delete(`${accounts}/robot`);
    await client.mustCreate(accounts, { metadata: { name: 'robot' } });
    expect((await as(client, free, 'GET', '/version')).status).toBe(401);
  });

  it('is not to be guessed from what a server shows of its randomness', async () => {
    const [one, other] = [await withRobot(), await withRobot()];
    const token = await tokenOf(one);
    await tokenOf(other);
    expect((await one.get(`${accounts}/robot`)).body.metadata.uid).toBe(
      (await other.get(`${accounts}/robot`)).body.metadata.uid,
    );
    expect((await as(one, token, 'GET', '/version')).status).toBe(200);
    expect((await as(other, token, 'GET', '/version')).status).toBe(401);
  });

  it('is good with every server that has the key', async () => {
    const servers = [1, 2].map(() => new ApiClient({ signingKey: Buffer.alloc(32, 7) }));
    for (const client of servers) await client.mustCreate(accounts, { metadata: { name: 'robot' } });
    const [one, other] = servers as [ApiClient, ApiClient];
    expect((await as(other, await tokenOf(one), 'GET', '/version')).status).toBe(200);
  });

  it('of another server, or changed, is none', async () => {
    const client = await withRobot();
    const token = await tokenOf(client);
    const [head = '', , signature = ''] = token.split('.');
    const claims = Buffer.from(JSON.stringify({ sub: 'system:admin' })).toString('base64url');
    for (const wrong of [`${head}.${claims}.${signature}`, `${token}x`, '..', 'x', `${head}..`]) {
      expect((await as(client, wrong, 'GET', pods)).status).toBe(401);
    }
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    expect((await as(client, `${none}.${claims}.`, 'GET', pods)).status).toBe(401);
    expect((await client.send('GET', pods, undefined, { authorization: 'Basic YTpi' })).status).toBe(401);
  });
});

describe('what a service account may do', () => {
  it('is nothing but discovery until it is given more', async () => {
    const client = await withRobot();
    const token = await tokenOf(client);
    expect((await as(client, token, 'GET', '/apis')).status).toBe(200);
    const refused = await as(client, token, 'GET', pods);
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      reason: 'Forbidden',
      message: `pods is forbidden: User "${robot}" cannot list resource "pods" in API group "" in the namespace "default"`,
      details: { kind: 'pods' },
    });
    expect((await as(client, token, 'GET', '/debug')).body.message).toBe(
      `forbidden: User "${robot}" cannot get path "/debug"`,
    );
  });

  it('ends at the namespace of a role', async () => {
    const client = await withRobot();
    await grant(client, 'Role', [rule(['list'], ['pods'])]);
    const token = await tokenOf(client);
    expect((await as(client, token, 'GET', pods)).status).toBe(200);
    expect((await as(client, token, 'GET', '/api/v1/pods')).status).toBe(403);
    expect((await as(client, token, 'GET', '/api/v1/namespaces/kube-system/pods')).status).toBe(403);
    expect((await as(client, token, 'GET', `${pods}?watch=true`)).status).toBe(403);
    expect((await as(client, token, 'GET', `${pods}/p`)).status).toBe(403);
  });

  it('is told apart by names and subresources', async () => {
    const client = await withRobot();
    await grant(client, 'ClusterRole', [
      rule(['get'], ['configmaps'], { resourceNames: ['mine'] }),
      rule(['create'], ['pods/binding']),
    ]);
    const token = await tokenOf(client);
    expect((await as(client, token, 'GET', '/api/v1/namespaces/default/configmaps/mine')).status).toBe(404);
    expect((await as(client, token, 'GET', '/api/v1/namespaces/default/configmaps/yours')).status).toBe(403);
    expect((await as(client, token, 'POST', `${pods}/p/binding`, {})).status).not.toBe(403);
    expect((await as(client, token, 'POST', `${pods}/p/eviction`, {})).status).toBe(403);
    expect((await as(client, token, 'POST', pods, {})).status).toBe(403);
  });

  it('is what reviews say, and what the administrator can try as somebody else', async () => {
    const client = await withRobot();
    await grant(client, 'Role', [rule(['list'], ['pods'])]);
    const attributes = { verb: 'list', resource: 'pods', namespace: 'default' };
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    const allowed = async (resourceAttributes: JsonObject): Promise<boolean> =>
      (await client.create(path, { spec: { user: robot, resourceAttributes } })).body.status.allowed as boolean;
    expect(await allowed(attributes)).toBe(true);
    expect(await allowed({ ...attributes, verb: 'get' })).toBe(false);
    expect((await client.create(path, { spec: { resourceAttributes: attributes } })).status).toBe(422);
    expect((await client.create(path, { spec: { user: robot } })).status).toBe(422);
    const asRobot = { 'impersonate-user': robot };
    expect((await client.send('GET', pods, undefined, asRobot)).status).toBe(200);
    expect((await client.send('GET', '/api/v1/pods', undefined, asRobot)).status).toBe(403);
    const token = await tokenOf(client);
    const both = { ...asRobot, authorization: `Bearer ${token}` };
    expect((await client.send('GET', pods, undefined, both)).status).toBe(403);
  });

  it('may be made of other roles by their labels', async () => {
    const client = await withRobot();
    await client.mustCreate(`${rbac}/clusterroles`, {
      metadata: { name: 'part', labels: { to: 'whole' } },
      rules: [rule(['list'], ['nodes'])],
    });
    await client.mustCreate(`${rbac}/clusterroles`, {
      metadata: { name: 'whole' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: 'whole' } }] },
    });
    await client.mustCreate(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'whole' },
      roleRef: { kind: 'ClusterRole', name: 'whole' },
      subjects: [{ kind: 'Group', name: 'system:serviceaccounts:default' }],
    });
    expect((await as(client, await tokenOf(client), 'GET', '/api/v1/nodes')).status).toBe(200);
  });
});
