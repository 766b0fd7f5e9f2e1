import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../base/system-clock.ts';
import { podGroupDefinition } from '../api/pod-group-schema.ts';
import { fixedEndpoint } from '../client/endpoint.ts';
import { loadKubeconfig } from '../client/kubeconfig.ts';
import { KubeClient } from '../client/kube-client.ts';
import { HttpTransport } from '../client/http/http-transport.ts';
import { createPlayground } from '../compose/create-playground.ts';
import { EmbeddedApiServer } from '../plane/apiserver/embedded-api-server.ts';
import { listenHttp } from '../plane/apiserver/listen-http.ts';
import { localKubeconfig } from '../client/local-kubeconfig.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { freshHome } from './testing/fresh-home.ts';

const home = freshHome('verify');

async function verify(
  kubeconfig: string,
  ...parameters: readonly string[]
): Promise<{ readonly lines: readonly string[]; readonly exitCode: number | undefined; readonly stderr: string }> {
  const process = home.tutti(['verify', '--kubeconfig', kubeconfig, ...parameters]);
  const { exitCode } = await process.ended();
  return { lines: process.stdout.trimEnd().split('\n'), exitCode, stderr: process.stderr };
}

async function withPlayground(
  nodes: number,
  act: (kubeconfig: string, client: KubeClient) => Promise<void>,
): Promise<void> {
  const ground = await createPlayground({ nodes, logger: silentLogger });
  const transport = new HttpTransport({
    endpoint: await loadKubeconfig({ clock: systemClock, path: ground.kubeconfigPath }),
  });
  try {
    await act(ground.kubeconfigPath, new KubeClient({ transport, clock: systemClock }));
  } finally {
    await transport.close();
    await ground.stop();
  }
}

/** Returns the number of pods and PodGroups in all namespaces. */
async function remainingIn(client: KubeClient): Promise<number> {
  const lists = await Promise.all(
    ['/api/v1/pods', '/apis/scheduling.x-k8s.io/v1alpha1/podgroups'].map((path) => client.list(path)),
  );
  return lists.flatMap(({ items }) => items).length;
}

describe('tutti verify', () => {
  it('reports success, schedules a gang, and leaves nothing behind', async () => {
    await withPlayground(2, async (kubeconfig, client) => {
      const { lines, exitCode } = await verify(kubeconfig, '--gang');
      expect(lines).toEqual([
        expect.stringMatching(/^ok {5}https:\/\/127\.0\.0\.1:\d+ responds: Kubernetes v/),
        'ok     the PodGroup CRD has all fields that Tutti writes',
        expect.stringMatching(/^ok {5}a gang of 2 for tutti was bound to node-\d( and node-\d)? within /),
      ]);
      expect(exitCode).toBe(0);
      expect(await remainingIn(client)).toBe(0);
    });
  });

  it('prints the checks as JSON', async () => {
    await withPlayground(0, async (kubeconfig) => {
      const { lines, exitCode } = await verify(kubeconfig, '--gang', '--timeout', '500ms', '-o', 'json');
      expect(JSON.parse(lines.join('\n'))).toEqual({
        passed: false,
        checks: [
          { passed: true, message: expect.stringContaining('responds') as string },
          { passed: true, message: 'the PodGroup CRD has all fields that Tutti writes' },
          { passed: false, message: expect.stringContaining('a gang of 2 was not bound within') as string },
        ],
      });
      expect(exitCode).toBe(1);
    });
  });

  it('creates no pods without --gang', async () => {
    await withPlayground(0, async (kubeconfig) => {
      const { lines, exitCode } = await verify(kubeconfig);
      expect(lines).toHaveLength(2);
      expect(exitCode).toBe(0);
    });
  });

  it('reports why the gang was not bound, and leaves nothing behind', async () => {
    await withPlayground(0, async (kubeconfig, client) => {
      const { lines, exitCode } = await verify(kubeconfig, '--gang', '--timeout', '2s');
      expect(lines.at(-1)).toMatch(
        /^FAILED a gang of 2 was not bound within 2s: tutti-verify-\w{5}-0: Unschedulable: .*0\/0 nodes are available/,
      );
      expect(exitCode).toBe(1);
      expect(await remainingIn(client)).toBe(0);
    });
  });

  it('reports that no scheduler with that name is running', async () => {
    await withPlayground(1, async (kubeconfig) => {
      const { lines } = await verify(kubeconfig, '--gang', '--scheduler-name', 'missing', '--timeout', '1s');
      expect(lines.at(-1)).toBe(
        'FAILED a gang of 2 was not bound within 1s: no scheduler has tried it: is a scheduler with the name missing running?',
      );
    });
  });

  it('reports the error of the API server', async () => {
    await withPlayground(1, async (kubeconfig) => {
      const { lines, exitCode } = await verify(kubeconfig, '--gang', '--namespace', 'nowhere');
      expect(lines.at(-1)).toMatch(/^FAILED POST .*namespaces "nowhere" not found$/);
      expect(exitCode).toBe(1);
    });
  });

  it.each<[string, object | undefined, string]>([
    [
      'the PodGroup CRD is missing',
      undefined,
      'FAILED the API server does not serve PodGroup: apply crds/, or install the chart',
    ],
    [
      'another project has installed the PodGroup CRD',
      withoutStatus('observedGeneration', 'members', 'conditions'),
      "FAILED the PodGroup CRD is outdated or not Tutti's, and drops status.observedGeneration, status.members, status.conditions: apply crds/ over it",
    ],
    [
      'the PodGroup CRD is of an older version',
      withoutStatus('predictedStartTime', 'startConfidence'),
      'drops status.predictedStartTime, status.startConfidence: apply crds/ over it',
    ],
  ])('waits a while, then fails if %s', async (_, definition, text) => {
    const server = new EmbeddedApiServer({ clock: systemClock, random: Math.random });
    const listener = await listenHttp(server, 0);
    const transport = new HttpTransport({ endpoint: fixedEndpoint(listener.url) });
    try {
      const client = new KubeClient({ transport, clock: systemClock });
      if (definition !== undefined) {
        await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
      }
      const kubeconfig = join(home.path, 'kubeconfig');
      await writeFile(kubeconfig, localKubeconfig(listener.url));
      const { lines, exitCode } = await verify(kubeconfig, '--timeout', '100ms');
      expect(lines.at(-1)).toContain(text);
      expect(exitCode).toBe(1);
    } finally {
      await transport.close();
      server.close();
      await listener.close();
    }
  });

  it('reports that the server is unreachable', async () => {
    const kubeconfig = join(home.path, 'kubeconfig');
    await writeFile(kubeconfig, localKubeconfig('http://127.0.0.1:1'));
    const { lines, exitCode, stderr } = await verify(kubeconfig);
    expect(lines).toEqual([expect.stringMatching(/^FAILED .*127\.0\.0\.1:1/)]);
    expect(exitCode).toBe(1);
    expect(stderr).toBe('');
  });
});

function withoutStatus(...fields: readonly string[]): object {
  const definition = structuredClone(podGroupDefinition) as unknown as {
    spec: {
      versions: { schema: { openAPIV3Schema: { properties: { status: { properties: Record<string, object> } } } } }[];
    };
  };
  const { properties } = definition.spec.versions[0]!.schema.openAPIV3Schema.properties.status;
  for (const field of fields) delete properties[field];
  return definition;
}
