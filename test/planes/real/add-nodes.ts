import type { KubeClient } from '../../../src/client/kube-client.ts';
import { poll } from '../poll.ts';

export interface NodeSpec {
  readonly name: string;
  /** Capacity and allocatable: resource name -> quantity. `pods` defaults to 110. */
  readonly allocatable: Readonly<Record<string, string | number>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

/** Number of nodes created concurrently. */
const atOnce = 32;
const readyWithinMs = 120_000;

/**
 * Creates Node objects and makes them ready: through kwok if it runs, otherwise with a status patch. The API server taints each new node
 * until a controller removes the taint; this function removes it.
 */
export async function addNodes(
  client: KubeClient,
  specs: readonly NodeSpec[],
  { kwok }: { readonly kwok: boolean },
): Promise<void> {
  await inBatches(specs, (spec) => create(client, spec, { ready: !kwok }));
  if (kwok) await allReady(client, new Set(specs.map(({ name }) => name)));
  await inBatches(specs, ({ name, taints = [] }) =>
    client.patch(`/api/v1/nodes/${name}`, 'merge', { spec: { taints } }),
  );
}

async function create(client: KubeClient, spec: NodeSpec, { ready }: { readonly ready: boolean }): Promise<void> {
  const { name, labels = {}, taints = [] } = spec;
  const amounts = Object.fromEntries(
    Object.entries({ pods: '110', ...spec.allocatable }).map(([resource, amount]) => [resource, String(amount)]),
  );
  const time = new Date().toISOString();
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  };
  await client.create('/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', ...labels } },
    spec: { taints },
    // Unlike most objects, a node keeps the status that it is created with.
    status: { capacity: amounts, allocatable: amounts, ...(ready && { conditions: [condition] }) },
  });
}

async function allReady(client: KubeClient, names: ReadonlySet<string>): Promise<void> {
  await poll(
    async () => {
      const { items } = await client.list('/api/v1/nodes', { labelSelector: 'kubernetes.io/os=linux' });
      const ready = (items as NodeObject[]).filter(
        ({ metadata, status }) =>
          names.has(metadata.name) &&
          (status.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True'),
      );
      return ready.length === names.size ? undefined : `${ready.length} of ${names.size} are`;
    },
    'the nodes are ready',
    readyWithinMs,
  );
}

interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
