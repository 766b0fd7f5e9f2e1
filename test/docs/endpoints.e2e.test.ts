import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { rejectedFlags } from '../../src/cli/rejected-flags.ts';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { httpsGet } from '../../src/serving/testing/https-get.ts';
import { kubectlPath } from '../planes/kubectl.ts';
import { poll } from '../planes/poll.ts';
import { freePorts } from '../planes/real/ports.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { claimBlocks } from './block-claims.ts';
import { consoleCommandsOf, outputsOf, transcriptsOf, withoutTimes } from './console-blocks.ts';
import { missingLines } from './missing-lines.ts';

const programs = await provideForSuite('docs/endpoints.md', ['etcd', 'kube-apiserver']);
const page = await readFile('docs/endpoints.md', 'utf8');
const transcripts = consoleCommandsOf(claimBlocks('docs/endpoints.md', 'console'));
const ofUp = transcripts.filter(({ command }) => command === 'tutti up');
const onServer = transcripts.filter((one) => !ofUp.includes(one));
const manifests = claimBlocks('docs/endpoints.md', 'yaml');
const documentedPort = '10259';
const tls = 'test/fixtures/tls';

/** Replaces what differs between runs: times, number of attempts, and which of two equal nodes was chosen. */
function masked(text: string): string {
  return withoutTimes(text)
    .replaceAll(/"attempts": \d+/g, '"attempts": (number)')
    .replaceAll(/"node": "node-[12]"/g, '"node": "(node)"');
}

it.each(rejectedFlags)('docs/endpoints.md names the replacement of %s', (flag) => {
  expect(page.split('\n').filter((line) => line.startsWith('| `--') && line.includes(`\`${flag}\``))).toHaveLength(1);
});

it('docs/endpoints.md shows the addresses that tutti up prints, and both serve health and metrics', async () => {
  const up = new TestProcess(['up']);
  try {
    await up.said(/partial starts$/m);
    expect(ofUp.map(({ output }) => missingLines(output, up.stdout))).toEqual([[]]);
    const [, ...urls] = /^endpoints: scheduler (\S+), controller (\S+)$/m.exec(up.stdout)!;
    for (const url of urls) {
      expect(await (await fetch(`${url}/livez`)).text()).toBe('ok');
      expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^# HELP /m);
    }
    expect(await (await fetch(`${urls[0]}/debug/groups`)).text()).toContain('"name": "red"');
  } finally {
    await up.kill();
  }
});

describe.skipIf(programs.state === 'missing')('docs/endpoints.md on a real API server', () => {
  const plane = planeForSuite(programs);
  let scheduler: TestProcess;
  let port: number;
  let url: string;

  beforeAll(async () => {
    await plane().addNodes(['node-1', 'node-2'].map((name) => ({ name, allocatable: { cpu: '2', memory: '4Gi' } })));
    for (const { code } of manifests) await writeFile(join(plane().folder, /^# (\S+\.yaml)\n/.exec(code)![1]!), code);
    [port] = (await freePorts(1)) as [number];
    url = `https://127.0.0.1:${port}`;
    scheduler = new TestProcess([
      ...['scheduler', '--kubeconfig', plane().kubeconfigPath, '--secure-port', String(port)],
      ...['--bind-address', '127.0.0.1', '--client-ca-file', join(tls, 'ca.crt')],
    ]);
    await scheduler.said(/ scheduling schedulerNames=/);
    await createGang('train', 2, '500m');
    await createGang('huge', 3, '1500m');
    await poll(async () => {
      const { text } = await httpsGet(`${url}/debug/groups`, { token: await administratorsToken() });
      return text.includes('"bound": 2') && text.includes('Unschedulable') ? undefined : text;
    }, 'one gang is bound and the other is not');
  });

  afterAll(async () => {
    await scheduler?.kill();
  });

  async function createGang(name: string, size: number, cpu: string): Promise<void> {
    await plane().client.create(podGroupPath('default'), {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name },
      spec: { minMember: size },
    });
    for (let index = 0; index < size; index++) {
      await plane().client.create('/api/v1/namespaces/default/pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `${name}-${index}`, labels: { 'scheduling.x-k8s.io/pod-group': name } },
        spec: {
          schedulerName: 'tutti',
          containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu } } }],
        },
      });
    }
  }

  /** Returns the token of the plane's kubeconfig, whose user is in system:masters. */
  async function administratorsToken(): Promise<string> {
    return /token: (\S+)/.exec(await readFile(plane().kubeconfigPath, 'utf8'))![1]!;
  }

  it('shows the output of its commands', async () => {
    const commands = onServer.map(({ command, output }) => ({
      command: command.replaceAll(documentedPort, String(port)),
      output,
    }));
    const environment = {
      KUBECONFIG: plane().kubeconfigPath,
      PATH: `${dirname(await kubectlPath())}:${process.env.PATH ?? ''}`,
    };
    const outputs = await outputsOf(commands, environment, plane().folder);
    const { printed, expected } = transcriptsOf(commands, outputs, masked);
    expect(printed).toEqual(expected);
    expect(commands.length).toBeGreaterThan(10);
  });

  it('ME10 a scrape without a token or with a wrong one gets 401 or 403, one without the permission 403, and one with it 200', async () => {
    const scrape = async (token?: string): Promise<number> =>
      (await httpsGet(`${url}/metrics`, token === undefined ? {} : { token })).status;
    const tokenOf = async (namespace: string, name: string): Promise<string> => {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
      return (await plane().client.create<{ readonly status: { readonly token: string } }>(path, review)).status.token;
    };
    expect(await scrape()).toBe(403);
    expect(await scrape('made-up')).toBe(401);
    await plane().client.create('/api/v1/namespaces/default/serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'unprivileged' },
    });
    expect(await scrape(await tokenOf('default', 'unprivileged'))).toBe(403);
    expect(await scrape(await tokenOf('monitoring', 'prometheus'))).toBe(200);
    expect(await scrape(await administratorsToken())).toBe(200);
  });

  it('a client certificate authenticates a user, and a certificate for servers is rejected', async () => {
    const [cert, key] = await Promise.all(['client.crt', 'client.key'].map((name) => readFile(join(tls, name))));
    // Its organization is system:masters.
    expect(await httpsGet(`${url}/debug/queue`, { cert, key })).toMatchObject({ status: 200 });
    const [otherCert, otherKey] = await Promise.all(
      ['server.crt', 'server.key'].map((name) => readFile(join(tls, name))),
    );
    // Signed by the same authority, but for servers.
    const none = { cert: otherCert, key: otherKey };
    expect(await httpsGet(`${url}/debug/queue`, none)).toMatchObject({ status: 401 });
    const token = await administratorsToken();
    expect(await httpsGet(`${url}/debug/queue`, { ...none, token })).toMatchObject({ status: 200 });
  });
});
