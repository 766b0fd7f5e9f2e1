import { nodeObject } from '../../src/plane/nodes/node-object.ts';
import { applyManifests } from '../../src/cli/manifests/apply-manifests.ts';
import { loadManifests } from '../../src/cli/manifests/load-manifests.ts';
import type { TestPlane } from '../planes/plane.ts';
import { poll } from '../planes/poll.ts';
import { hangsMs } from '../planes/patience.ts';

interface ExamplePod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

/** Adds the Node objects `node-1` to `node-<count>`, without kubelets. */
export async function addExampleNodes({ client }: TestPlane, count: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    const name = `node-${number}`;
    await client.create(
      '/api/v1/nodes',
      nodeObject({ name, allocatable: { cpu: '4', memory: '8Gi' } }, '', Date.now()),
    );
    // A real server taints new nodes until a controller has seen that they are ready.
    await client.patch(`/api/v1/nodes/${name}`, 'merge', { spec: { taints: null } });
  }
}

/** Creates the objects of a file as `kubectl create -f` does. */
export async function createExample({ client }: TestPlane, path: string): Promise<void> {
  await applyManifests(client, await loadManifests([path]), AbortSignal.timeout(hangsMs));
}

/** Resolves with the name of the pod's node. */
export async function exampleNodeOf({ client }: TestPlane, name: string): Promise<string> {
  let nodeName: string | undefined;
  const check = async (): Promise<string | undefined> => {
    ({ nodeName } = (await client.get<ExamplePod>(`/api/v1/namespaces/default/pods/${name}`)).spec);
    return nodeName === undefined ? 'it has no node' : undefined;
  };
  await poll(check, `${name} is bound`, hangsMs);
  return nodeName!;
}
