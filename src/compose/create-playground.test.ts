import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { silentLogger } from '../observability/silent-logger.ts';
import { createPlayground } from './create-playground.ts';
import type { Playground, PlaygroundOptions } from './create-playground.ts';

let playground: Playground | undefined;

afterEach(async () => {
  await playground?.stop();
  playground = undefined;
});

/** Returns a playground and an ordinary client for it. */
async function open(options: PlaygroundOptions): Promise<{ readonly core: CoreV1Api; readonly ground: Playground }> {
  const ground = await createPlayground({ logger: silentLogger, ...options });
  playground = ground;
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(ground.kubeconfigPath);
  return { core: kubeConfig.makeApiClient(CoreV1Api), ground };
}

async function addPod(core: CoreV1Api, name: string, schedulerName?: string): Promise<void> {
  const spec = {
    ...(schedulerName !== undefined && { schedulerName }),
    containers: [{ name: 'main', image: 'busybox' }],
  };
  await core.createNamespacedPod({ namespace: 'default', body: { metadata: { name }, spec } });
}

const read = (core: CoreV1Api, name: string): ReturnType<CoreV1Api['readNamespacedPod']> =>
  core.readNamespacedPod({ name, namespace: 'default' });

it('runs pods of each of its scheduler names on simulated nodes, until it is stopped', async () => {
  const { core, ground } = await open({ nodes: 2 });
  const nodes = await core.listNode();
  expect(nodes.items.map(({ metadata }) => metadata?.name)).toEqual(['node-1', 'node-2']);
  await addPod(core, 'one');
  await addPod(core, 'two', 'tutti');
  for (const name of ['one', 'two']) {
    await ground.until(async () => (await read(core, name)).status?.phase === 'Running', { what: `${name} runs` });
  }
  expect((await fetch(`${ground.schedulerUrl}/healthz`)).status).toBe(200);
  await ground.stop();
  expect(existsSync(ground.kubeconfigPath)).toBe(false);
  const socket = connect(Number(new URL(ground.url).port), '127.0.0.1');
  await expect(once(socket, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('runs only the plugins that a profile enables', async () => {
  const bound: string[] = [];
  const reported = (name: string): { name: string; factory: () => object } => ({
    name,
    factory: () => ({
      name,
      postBind: (_state: unknown, pod: { name: string }) => void bound.push(`${name} ${pod.name}`),
    }),
  });
  const plugins = ['Unnamed', 'Sample'].map(reported) as unknown as PlaygroundOptions['plugins'];
  const { core, ground } = await open({
    nodes: [{ name: 'node', labels: { size: 'small' } }],
    plugins: plugins!,
    profiles: [
      { schedulerName: 'default-scheduler' },
      { schedulerName: 'sample-scheduler', disabled: ['*'], enabled: ['PrioritySort', 'Sample', 'DefaultBinder'] },
    ],
  });
  await addPod(core, 'plain');
  await ground.until(async () => (await read(core, 'plain')).spec?.nodeName, { what: 'plain is bound' });
  await addPod(core, 'special', 'sample-scheduler');
  await ground.until(() => bound.length === 1);
  expect(bound).toEqual(['Sample special']);
});

it('rejects invalid profiles, and leaves nothing running', async () => {
  const profile = { schedulerName: 'mine', disabled: ['NodeRessourcesFit'] };
  await expect(createPlayground({ profiles: [profile] })).rejects.toMatchObject({
    name: 'ProfileError',
    message: expect.stringContaining('profile mine disables NodeRessourcesFit, which is not enabled by default'),
  });
  await expect(createPlayground({ profiles: [{ schedulerName: 'mine', enabled: ['NodeName'] }] })).rejects.toThrow(
    'profile mine enables NodeName, which is enabled by default; to change its position, weight or arguments, disable it too',
  );
  const twins = [1, 2].map(() => ({ name: 'Twin', factory: () => ({ name: 'Twin' }) }));
  await expect(createPlayground({ plugins: twins, logger: silentLogger })).rejects.toThrow(
    'two plugins have the name Twin',
  );
});

it.each([-1, 1.5, NaN, Infinity])('rejects %d nodes', async (nodes) => {
  await expect(createPlayground({ nodes })).rejects.toThrow(
    new TypeError(`nodes must be a whole number of at least 0, or a list of nodes, not ${nodes}`),
  );
});

it('runs independently of a second playground, and may be stopped twice', async () => {
  const [one, other] = await Promise.all([open({ nodes: 1 }), open({ nodes: 2 })]);
  await Promise.all([one.ground.stop(), one.ground.stop()]);
  await one.ground.stop();
  expect((await other.core.listNode()).items).toHaveLength(2);
  await addPod(other.core, 'pod');
  await other.ground.until(async () => (await read(other.core, 'pod')).spec?.nodeName);
  await other.ground.stop();
});

it('names a condition that does not become true in time', async () => {
  const { ground } = await open({});
  await expect(ground.until(() => false, { what: 'pigs fly', timeoutMs: 20 })).rejects.toMatchObject({
    name: 'ConditionError',
    message: 'timed out after 0.02 s waiting until pigs fly',
  });
  await expect(ground.until(() => Promise.reject(new Error('no such pig')))).rejects.toThrow('no such pig');
});

it('accepts only requests with the token of its kubeconfig', async () => {
  const { ground } = await open({});
  const text = await readFile(ground.kubeconfigPath, 'utf8');
  const { clusters, users } = parse(text) as {
    clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
    users: { user: { token: string } }[];
  };
  expect(clusters[0]!.cluster.server).toBe(ground.url);
  expect((await stat(ground.kubeconfigPath)).mode & 0o777).toBe(0o600);
  const ca = Buffer.from(clusters[0]!.cluster['certificate-authority-data'], 'base64');
  const ask = async (headers: Record<string, string>): Promise<number> => {
    const request = httpsRequest(`${ground.url}/api/v1/namespaces`, { ca, headers, servername: 'localhost' });
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode!;
  };
  const authorization = `Bearer ${users[0]!.user.token}`;
  expect(await ask({ authorization })).toBe(200);
  expect(await ask({})).toBe(401);
  expect(await ask({ authorization, origin: 'https://elsewhere.test' })).toBe(403);
  expect(await ask({ authorization, host: 'elsewhere.test' })).toBe(403);
});
