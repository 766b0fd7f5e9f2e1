import { deferred } from '../../src/base/deferred.ts';
import type { RunningProcess } from '../../src/compose/running-process.ts';
import type { PreemptionResult } from '../../src/scheduler/preemption/ongoing-preemption.ts';
import type { ApiProxy } from '../planes/api-proxy.ts';
import { poll } from '../planes/poll.ts';
import { preemptionReason } from '../../src/api/pod.ts';
import { podPath } from '../../src/api/pod-path.ts';
import type { PodGroupSpec } from '../../src/api/pod-group.ts';
import type { TransportRequest } from '../../src/client/transport.ts';
import type { SimulatedNodeSpec } from '../../src/plane/nodes/node-object.ts';
import { expectBound, nodeOf } from '../expect/expect-bound.ts';
import type { WatchedPod } from '../expect/watched.ts';
import { involvedKeyOf, keyOf } from '../expect/watched.ts';
import { hangsMs } from '../planes/patience.ts';
import type { PodSpec } from './pod-manifest.ts';
import type { Stage } from './stage.ts';

const hostname = 'kubernetes.io/hostname';

/** A node with this number of CPUs. */
export function cpus(name: string, cpu: number, more: Readonly<Record<string, string>> = {}): SimulatedNodeSpec {
  return { name, allocatable: { cpu: String(cpu), ...more } };
}

/** Part of a PodSpec: the pod goes to this node only. */
export function onlyOn(node: string): Pick<PodSpec, 'nodeSelector'> {
  return { nodeSelector: { [hostname]: node } };
}

/** Starts a scheduler on one node of four CPUs, and a gang of four pods of low priority that fills it. Returns the members. */
export async function fullNode(stage: Stage, group: PodGroupSpec, spec: PodSpec = {}): Promise<string[]> {
  const [node] = await stage.addNodes(cpus('node', 4));
  await stage.startScheduler();
  return boundGang(stage, 'low', group, [node!, node!, node!, node!], spec);
}

/** Creates a gang with a member of one CPU for each of these nodes, and waits until it is bound. Returns the members. */
export async function boundGang(
  stage: Stage,
  name: string,
  group: PodGroupSpec,
  nodes: readonly string[],
  spec: PodSpec = {},
): Promise<string[]> {
  await stage.createGroup(name, group);
  const members = await Promise.all(
    nodes.map((node, index) => stage.createPod(`${name}-${index}`, { cpu: 1, ...onlyOn(node), ...spec, group: name })),
  );
  await expectBound(stage.record, members);
  return members;
}

/** Creates a gang of pods of high priority with one CPU each. Returns the members. */
export async function createGang(
  stage: Stage,
  name: string,
  group: PodGroupSpec & { readonly count?: number },
  spec: PodSpec = {},
): Promise<string[]> {
  const { count = group.minMember ?? 1, ...rest } = group;
  await stage.createGroup(name, rest);
  return stage.createPods(name, count, { cpu: 1, priority: 'high', ...spec, group: name });
}

/** Creates a PodDisruptionBudget for the pods with these labels, which allows this number of disruptions now. */
export async function createBudget(
  { client, namespace }: Stage,
  name: string,
  matchLabels: Readonly<Record<string, string>>,
  disruptionsAllowed: number,
): Promise<(allowed: number) => Promise<void>> {
  const path = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
  const object = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name, namespace } };
  await client.create(path, { ...object, spec: { maxUnavailable: disruptionsAllowed, selector: { matchLabels } } });
  // What the disruption controller of a cluster would write.
  const counts = { currentHealthy: 4, desiredHealthy: 4, expectedPods: 4, observedGeneration: 1 };
  const allow = async (allowed: number): Promise<void> => {
    await client.patch(`${path}/${name}/status`, 'merge', { status: { ...counts, disruptionsAllowed: allowed } });
  };
  await allow(disruptionsAllowed);
  return allow;
}

/** Deletes the pod with its grace period. On a node without a kubelet it keeps terminating. */
export async function beginDeletion({ client }: Stage, key: string): Promise<void> {
  const [namespace = '', name = ''] = key.split('/');
  await client.delete(podPath({ namespace, name }));
}

/** Returns whether the pod has the mark of a preemption. */
export function isMarked({ status }: WatchedPod): boolean {
  return (status?.conditions ?? []).some(
    ({ type, status: is, reason }) => type === 'DisruptionTarget' && is === 'True' && reason === preemptionReason,
  );
}

function isLeaving({ metadata }: WatchedPod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
}

/** Waits until the expected pods are terminating or gone. The others must be untouched. */
export async function expectEvicted(stage: Stage, pods: readonly string[], expected: readonly string[]): Promise<void> {
  await stage.record.until(`${expected.join(', ')} are evicted`, hangsMs, () => {
    const left = expected.filter((key) => !isEvicted(stage, key));
    return left.length === 0 ? undefined : `${left.join(', ')} are not`;
  });
  expectUntouched(
    stage,
    pods.filter((key) => !expected.includes(key)),
  );
}

/** Asserts that all pods were marked before the first of them was deleted. */
export function expectMarkedFirst({ record }: Stage, pods: readonly string[]): void {
  const marked = new Set<string>();
  for (const { type, object } of record.pods.changes) {
    const key = keyOf(object);
    if (!pods.includes(key)) continue;
    if (isMarked(object)) marked.add(key);
    if ((type === 'DELETED' || isLeaving(object)) && marked.size < pods.length)
      throw new Error(`${key} was deleted when only ${marked.size} of ${pods.length} pods were marked`);
  }
}

/** Waits until `count` of the pods are terminating or gone, and returns them. */
export async function expectCountEvicted(stage: Stage, pods: readonly string[], count: number): Promise<string[]> {
  const evicted = (): string[] => pods.filter((key) => isEvicted(stage, key));
  await stage.record.until(`${count} pods are evicted`, hangsMs, () =>
    evicted().length >= count ? undefined : `only ${evicted().length} are`,
  );
  if (evicted().length > count) throw new Error(`${evicted().join(', ')} are evicted, expected ${count}`);
  return evicted();
}

function isEvicted({ record }: Stage, key: string): boolean {
  const pod = record.pods.current.get(key);
  return pod === undefined || isLeaving(pod);
}

/** Asserts that the pods are bound and that no preemption has ever marked or deleted them. */
export function expectUntouched({ record }: Stage, pods: readonly string[]): void {
  const known = new Set(pods);
  for (const { object } of record.pods.changes) {
    if (known.has(keyOf(object)) && (isMarked(object) || isLeaving(object)))
      throw new Error(`${keyOf(object)} was marked or deleted`);
  }
  for (const key of pods) if (nodeOf(record, key) === undefined) throw new Error(`${key} is not bound`);
}

/** Asserts that none of the pods was ever deleted. */
export function expectNotDeleted({ record }: Stage, pods: readonly string[]): void {
  for (const { type, object } of record.pods.changes) {
    if (pods.includes(keyOf(object)) && (type === 'DELETED' || isLeaving(object)))
      throw new Error(`${keyOf(object)} was deleted`);
  }
}

/** Returns what a request of the scheduler does to the pod (namespace/name) for a preemption; undefined: something else. */
export function requestFor(key: string, { method, path, body }: TransportRequest): 'mark' | 'delete' | undefined {
  const [namespace = '', name = ''] = key.split('/');
  const [at] = path.split('?');
  if (method === 'DELETE' && at === podPath({ namespace, name })) return 'delete';
  if (method !== 'PATCH' || at !== `${podPath({ namespace, name })}/status`) return undefined;
  return String(body).includes('DisruptionTarget') ? 'mark' : undefined;
}

/** Holds the marks of the pod that the scheduler sends. `held` resolves when it has sent the first one. */
export function holdMarks(
  proxy: ApiProxy,
  key: string,
): { readonly held: Promise<void>; readonly release: () => void } {
  const [held, released] = [deferred(), deferred()];
  proxy.fault = async (request) => {
    if (requestFor(key, request) !== 'mark') return undefined;
    held.resolve();
    await released.promise;
    return undefined;
  };
  return { held: held.promise, release: () => released.resolve() };
}

/** Waits until this number of preemptions have ended in this way. */
export async function expectOutcome({ url }: RunningProcess, outcome: PreemptionResult, count: number): Promise<void> {
  const line = `tutti_preemption_outcomes_total{outcome="${outcome}"} ${count}`;
  await poll(async () => {
    const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
    return lines.includes(line) ? undefined : lines.filter((each) => each.startsWith('tutti_preemption_')).join('\n');
  }, line);
}

/** Asserts that the pods live and carry no mark, whatever happened before. */
export function expectSpared({ record }: Stage, pods: readonly string[]): void {
  for (const key of pods) {
    const pod = record.pods.current.get(key);
    if (pod === undefined || isLeaving(pod)) throw new Error(`${key} was deleted`);
    if (isMarked(pod)) throw new Error(`${key} is still marked`);
  }
}

/** Waits until the pods live and carry no mark. */
export async function expectUnmarked(stage: Stage, pods: readonly string[]): Promise<void> {
  await stage.record.until(`${pods.join(', ')} carry no mark`, hangsMs, () => {
    const marked = pods.filter((key) => {
      const pod = stage.record.pods.current.get(key);
      return pod !== undefined && isMarked(pod);
    });
    return marked.length === 0 ? undefined : `${marked.join(', ')} do`;
  });
  expectSpared(stage, pods);
}

/** Returns the node that is nominated for the pod; undefined: none is. */
function nominatedNodeOf({ record }: Stage, key: string): string | undefined {
  const { nominatedNodeName = '' } = record.pods.current.get(key)?.status ?? {};
  return nominatedNodeName === '' ? undefined : nominatedNodeName;
}

/** Waits until the pods are nominated, and returns their nodes, sorted. */
export async function expectNominated(
  stage: Stage,
  pods: readonly string[],
  isAsExpected: (nodes: readonly string[]) => boolean = () => true,
): Promise<string[]> {
  const nodes = (): string[] => pods.flatMap((key) => nominatedNodeOf(stage, key) ?? []).sort();
  await stage.record.until(`${pods.join(', ')} are nominated`, hangsMs, () =>
    nodes().length === pods.length && isAsExpected(nodes()) ? undefined : `the nominated nodes are ${nodes().join()}`,
  );
  return nodes();
}

/** Waits until none of the pods is nominated. */
export async function expectNotNominated(stage: Stage, pods: readonly string[]): Promise<void> {
  await stage.record.until(`${pods.join(', ')} are not nominated`, hangsMs, () => {
    const left = pods.filter((key) => nominatedNodeOf(stage, key) !== undefined);
    return left.length === 0 ? undefined : `${left.join(', ')} still are`;
  });
}

/** Waits for an Event of the pod or group (namespace/name). Returns its message. */
export async function expectEvent(stage: Stage, key: string, reason: string, says = ''): Promise<string> {
  let found: string | undefined;
  await stage.record.until(`an Event ${reason} of ${key} with ${JSON.stringify(says)}`, hangsMs, () => {
    found = eventsOf(stage, key, reason).find((message) => message.includes(says));
    return found === undefined ? `its Events are ${JSON.stringify(eventsOf(stage, key, reason))}` : undefined;
  });
  return found!;
}

/** Returns the messages of these Events of the pod or group. */
export function eventsOf({ record }: Stage, key: string, reason: string): string[] {
  return [...record.events.current.values()].flatMap((event) =>
    event.reason === reason && involvedKeyOf(event) === key ? [event.message ?? ''] : [],
  );
}
