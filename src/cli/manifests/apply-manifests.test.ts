import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { podGroupDefinition } from '../../api/pod-group-schema.ts';
import { systemClock } from '../../base/system-clock.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { EmbeddedApiServer } from '../../plane/apiserver/embedded-api-server.ts';
import { InProcessTransport } from '../../plane/apiserver/in-process-transport.ts';
import { applyManifests } from './apply-manifests.ts';
import type { AppliedObject } from './apply-manifests.ts';
import { ManifestError } from './manifest.ts';
import { parseManifests } from './parse-manifests.ts';

let server: EmbeddedApiServer;
let client: KubeClient;
beforeEach(() => {
  server = new EmbeddedApiServer({ clock: systemClock, random: Math.random });
  client = new KubeClient({ transport: new InProcessTransport(server), clock: systemClock });
});
afterEach(() => server.close());

const podGroup = (minMember: number): string =>
  `apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata:\n  name: red\nspec:\n  minMember: ${minMember}\n`;
const node = 'apiVersion: v1\nkind: Node\nmetadata:\n  name: big\n';

function apply(text: string): Promise<readonly AppliedObject[]> {
  return applyManifests(client, parseManifests('jobs.yaml', text).manifests, new AbortController().signal);
}

async function problemsOf(text: string): Promise<readonly string[]> {
  const failure = await apply(text).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ManifestError);
  return (failure as ManifestError).problems;
}

describe('applyManifests', () => {
  it('creates objects in order, including kinds that an earlier object defines', async () => {
    const definition = JSON.stringify(podGroupDefinition);
    expect(await problemsOf(podGroup(3))).toEqual([
      'jobs.yaml, document 1, line 2: PodGroup red: kind: the embedded control plane does not serve PodGroup of scheduling.x-k8s.io/v1alpha1: apply its CustomResourceDefinition first, or use a cluster that has it. The embedded control plane runs no operators',
    ]);
    expect(await apply(`${definition}\n---\n${podGroup(3)}---\n${node}`)).toEqual([
      { kind: 'CustomResourceDefinition', namespace: '', name: 'podgroups.scheduling.x-k8s.io' },
      { kind: 'PodGroup', namespace: 'default', name: 'red' },
      { kind: 'Node', namespace: '', name: 'big' },
    ]);
  });

  it('patches an object that exists', async () => {
    await apply(node);
    await apply(`${node}  labels: {size: xl}\n`);
    expect(await client.get('/api/v1/nodes/big')).toMatchObject({ metadata: { labels: { size: 'xl' } } });
  });

  it('reports the field that the server rejects, with its line, and stops there', async () => {
    await apply(JSON.stringify(podGroupDefinition));
    const [problem] = await problemsOf(`${podGroup(0)}---\n${node}`);
    expect(problem).toMatch(
      /^jobs.yaml, document 1, line 6: PodGroup red: spec.minMember: .*greater than or equal to 1/,
    );
    await expect(client.get('/api/v1/nodes/big')).rejects.toMatchObject({ status: 404 });
  });

  it('makes the server reject unknown fields', async () => {
    const [problem] = await problemsOf(`${node}spec:\n  unschedulabel: true\n`);
    expect(problem).toMatch(/^jobs.yaml, document 1, line 1: Node big: rejected: .*unschedulabel/);
  });

  it('reports the namespace that does not exist', async () => {
    const pod =
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: nowhere}\nspec: {containers: [{name: a, image: a}]}\n';
    const [problem] = await problemsOf(pod);
    expect(problem).toMatch(/Pod nowhere\/a: rejected: .*"nowhere" not found/);
  });
});
