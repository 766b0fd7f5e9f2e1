import { isOlderVersion } from '../../src/api/resource-version.ts';
import type { SimulatedNodeSpec } from '../../src/plane/nodes/node-object.ts';
import { expectBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { poll } from '../planes/poll.ts';
import { scenario } from './scenario.ts';
import type { Stage } from './stage.ts';
import { VolumeStore } from './volume-store.ts';

const zone = 'topology.kubernetes.io/zone';
const hostname = 'kubernetes.io/hostname';

function inZone(name: string, of: string, cpu = 4): SimulatedNodeSpec {
  return { name, allocatable: { cpu: String(cpu) }, labels: { [zone]: of } };
}

/** Creates a gang whose members each have a claim of the given class. */
async function createGang(
  stage: Stage,
  store: VolumeStore,
  name: string,
  { classes, cpu }: { readonly classes: readonly string[]; readonly cpu: number },
): Promise<{ readonly pods: string[]; readonly claims: string[] }> {
  await stage.createGroup(name, { minMember: classes.length });
  const pods: string[] = [];
  const claims: string[] = [];
  for (const [index, storageClass] of classes.entries()) {
    const claim = `${name}-data-${index}`;
    await store.createClaim(claim, storageClass);
    claims.push(claim);
    pods.push(await stage.createPod(`${name}-${index}`, { cpu, group: name, claims: [claim] }));
  }
  return { pods, claims };
}

/** Rejects when a pod was bound before a claim was. The watch of claims may lag behind that of pods. */
async function expectVolumesFirst(
  stage: Stage,
  store: VolumeStore,
  pods: readonly string[],
  claims: readonly string[],
): Promise<void> {
  const versions = (): (string | undefined)[] => claims.map((name) => store.boundIn(name));
  await poll(
    () => Promise.resolve(versions().includes(undefined) ? versions().join() : undefined),
    'all claims are bound',
  );
  const lastClaim = versions().reduce((a, b) => (isOlderVersion(a!, b!) ? b : a))!;
  for (const key of pods) {
    const first = stage.record.pods.changes.find(
      ({ object: { metadata, spec } }) =>
        `${metadata.namespace}/${metadata.name}` === key && (spec.nodeName ?? '') !== '',
    );
    if (isOlderVersion(lastClaim, first!.object.metadata.resourceVersion)) continue;
    throw new Error(`${key} was bound before all claims were`);
  }
}

/** Pods whose claims wait for their first consumer. */
export const volumes = {
  X13: scenario(
    'a gang with unbound volumes and large requests waits without a retry loop, and is bound after its volumes',
    async (stage) => {
      const store = await VolumeStore.open(stage);
      // Enough in total, and for two members.
      await stage.addNodes(inZone('a', 'east', 5), inZone('b', 'west', 5));
      await stage.startScheduler();
      const made = await store.createClass('made', 'made');
      const { pods, claims } = await createGang(stage, store, 'work', { classes: [made, made, made], cpu: 3 });
      await expectVerdict(stage.record, pods, { reason: 'Unschedulable', says: ['2 of 3 members would fit'] });
      await expectBound(stage.record, [await stage.createPod('after', { cpu: '100m', priority: 'last' })]);
      // The scheduler has requested no volumes and has not retried repeatedly.
      const touched = claims.filter((name) => store.claim(name)?.metadata.annotations !== undefined);
      if (touched.length > 0) throw new Error(`${touched.join()} have a selected node`);
      const updates = stage.record.pods.changes.filter(({ object: { metadata } }) => metadata.name === 'work-0').length;
      if (updates > 3) throw new Error(`work-0 has changed ${updates} times while nothing else did`);
      expectNeverBound(stage.record, pods);
      await stage.addNodes(inZone('c', 'west', 5));
      await expectBound(stage.record, pods);
      await store.untilBound(...claims);
      await expectVolumesFirst(stage, store, pods, claims);
    },
  ),

  V1: scenario('volumes provisioned for a gang that failed remain, and the next plan follows them', async (stage) => {
    const store = await VolumeStore.open(stage);
    const zoneOf = new Map<string, string>();
    const add = async (spec: SimulatedNodeSpec): Promise<void> => {
      const [name] = await stage.addNodes(spec);
      zoneOf.set(name!, spec.labels![zone]!);
    };
    await add(inZone('a', 'east'));
    await add(inZone('b', 'west'));
    await stage.startScheduler({ args: { VolumeBinding: { bindTimeoutSeconds: 1 } } });
    const classes = [await store.createClass('made', 'made'), await store.createClass('others', 'by others')];
    const { pods, claims } = await createGang(stage, store, 'work', { classes, cpu: 3 });
    await store.untilBound('work-data-0');
    const volume = store.claim('work-data-0')!.spec.volumeName;
    const east = store.zoneOf('work-data-0')!;
    const says = [`persistentvolumeclaim "${stage.namespace}/work-data-1" has no volume yet`];
    await expectVerdict(stage.record, pods, { reason: 'SchedulerError', says });
    expectNeverBound(stage.record, pods);
    // More capacity than anywhere else, but out of reach.
    await add(inZone('large', 'north', 64));
    const given = store.claim('work-data-1')!.metadata.annotations?.['volume.kubernetes.io/selected-node'];
    const value = zoneOf.get(given ?? '')!;
    await store.createVolume('late', classes[1]!, { label: zone, value, claim: 'work-data-1' });
    await expectBound(stage.record, pods);
    await expectVolumesFirst(stage, store, pods, claims);
    if (store.claim('work-data-0')!.spec.volumeName !== volume) throw new Error('the claim has another volume');
    const at = zoneOf.get(nodeOf(stage.record, pods[0]!)!);
    if (at !== east) throw new Error(`the volume is in ${east}, the pod in ${at}`);
  }),

  V2: scenario(
    'members of a gang share the existing volumes, and without enough volumes none is used',
    async (stage) => {
      const store = await VolumeStore.open(stage);
      const nodes = await stage.addNodes(
        { name: 'a', allocatable: { cpu: '8' } },
        { name: 'b', allocatable: { cpu: '8' } },
      );
      await stage.startScheduler();
      const local = await store.createClass('local', 'by hand');
      const on = (index: number): { label: string; value: string } => ({ label: hostname, value: nodes[index]! });
      const first = [await store.createVolume('v0', local, on(0)), await store.createVolume('v1', local, on(1))];
      const { pods, claims } = await createGang(stage, store, 'work', { classes: [local, local, local], cpu: 1 });
      const says = ['2 of 3 members would fit', "node(s) didn't find available persistent volumes to bind"];
      await expectVerdict(stage.record, pods, { reason: 'Unschedulable', says });
      await expectBound(stage.record, [await stage.createPod('after', { cpu: '100m', priority: 'last' })]);
      for (const name of first) {
        if (store.volumes.current.get(name)?.spec.claimRef !== undefined) throw new Error(`${name} was used`);
      }
      const last = await store.createVolume('v2', local, on(1));
      await expectBound(stage.record, pods);
      await expectVolumesFirst(stage, store, pods, claims);
      const taken = new Set(claims.map((name) => store.claim(name)?.spec.volumeName));
      for (const name of [...first, last]) if (!taken.has(name)) throw new Error(`no claim has ${name}`);
      const onNodes = pods.map((key) => nodeOf(stage.record, key)).sort();
      if (onNodes.join() !== [nodes[0], nodes[1], nodes[1]].sort().join())
        throw new Error(`they are bound to ${onNodes.join()}`);
    },
  ),
} as const;
