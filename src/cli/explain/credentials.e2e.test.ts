import { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { podGroupPath } from '../../api/pod-group.ts';
import { makeSelfSignedCertificate } from '../../serving/certificates/self-signed-certificate.ts';
import type { ServingCertificate } from '../../serving/certificates/serving-certificate.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import { freshHome } from '../testing/fresh-home.ts';

const home = freshHome('credentials');
const folderOfPod = '/var/run/secrets/kubernetes.io/serviceaccount';
let server: Server;
let serving: ServingCertificate;
let client: ServingCertificate;
/** Who has asked: the token, or the fingerprint of the client certificate. */
let callers: Set<string | undefined>;

beforeAll(async () => {
  [serving, client] = await Promise.all([
    makeSelfSignedCertificate(['127.0.0.1'], Date.now(), 1),
    makeSelfSignedCertificate(['jane'], Date.now(), 1),
  ]);
  const group = new Builders().podGroup({ name: 'red' });
  const tls = { cert: serving.certificates, key: serving.key, requestCert: true, rejectUnauthorized: false };
  server = createServer(tls, ({ url = '', headers, socket }, response) => {
    const { fingerprint256 } = (socket as TLSSocket).getPeerCertificate() as { readonly fingerprint256?: string };
    callers.add(headers.authorization ?? fingerprint256);
    const { pathname } = new URL(url, 'https://x');
    const ofNamespace = [podGroupPath('default'), '/api/v1/namespaces/default/pods'];
    response.writeHead(ofNamespace.includes(pathname) ? 200 : 404, { 'content-type': 'application/json' });
    const items = pathname === podGroupPath('default') ? [group] : [];
    response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

beforeEach(() => {
  callers = new Set();
});

const portOf = (): number => (server.address() as AddressInfo).port;

async function writeKubeconfig(cluster: object): Promise<string> {
  const data = (text: string): string => Buffer.from(text).toString('base64');
  const user = {
    'client-certificate-data': data(client.certificates),
    'client-key-data': data(client.key),
  };
  const path = join(home.path, 'kubeconfig');
  const kubeconfig = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${portOf()}`, ...cluster } }],
    users: [{ name: 'c', user }],
  };
  await writeFile(path, JSON.stringify(kubeconfig));
  return path;
}

it('KP3: verifies the API server with the authority of the cluster, and shows a client certificate', async () => {
  const kubeconfig = await writeKubeconfig({
    'certificate-authority-data': Buffer.from(serving.certificates).toString('base64'),
  });
  const command = home.tutti(['status', '-o', 'name', '--kubeconfig', kubeconfig]);
  expect(await command.ended(), command.stderr).toEqual({ exitCode: 0 });
  expect(command.stdout).toBe('podgroup.scheduling.x-k8s.io/red\n');
  expect([...callers]).toEqual([new X509Certificate(client.certificates).fingerprint256]);
});

it('KP3: sends nothing to an API server whose authority is not known', async () => {
  const command = home.tutti(['status', '--kubeconfig', await writeKubeconfig({})]);
  expect(await command.ended()).toEqual({ exitCode: 1 });
  expect([command.stdout, ...callers]).toEqual(['']);
  expect(command.stderr).toMatch(/^tutti: .*certificate.*\n$/);
});

const canMount = process.platform === 'linux' && process.getuid?.() === 0;

it.skipIf(!canMount)('KP3: uses the service account of the pod that it runs in', async () => {
  await writeFile(join(home.path, 'token'), 'token-of-the-pod');
  await writeFile(join(home.path, 'ca.crt'), serving.certificates);
  await writeFile(join(home.path, 'namespace'), 'default');
  // Only this process sees the mount.
  const script = `mount -t tmpfs tmpfs /run && mkdir -p ${folderOfPod} && cp ${home.path}/* ${folderOfPod} && exec "$@"`;
  const under = ['unshare', '--mount', 'sh', '-c', script, 'sh'];
  const environment = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(portOf()) };
  const command = home.tutti(['status', '-o', 'name'], { under, environment });
  expect(await command.ended(), command.stderr).toEqual({ exitCode: 0 });
  expect(command.stdout).toBe('podgroup.scheduling.x-k8s.io/red\n');
  expect([...callers]).toEqual(['Bearer token-of-the-pod']);
});
