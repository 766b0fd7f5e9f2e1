import type { PodAffinityRules } from '../../src/api/pod.ts';
import type { SimulatedNodeSpec } from '../../src/plane/nodes/node-object.ts';
import { expectBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

const zone = 'topology.kubernetes.io/zone';
const hostname = 'kubernetes.io/hostname';

const beside = (role: string, topologyKey: string): PodAffinityRules => ({
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: { role } }, topologyKey }],
  },
});
const apart = (role: string, topologyKey: string): PodAffinityRules => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: { role } }, topologyKey }],
  },
});

/** Returns a node with this many CPUs in a zone. */
function inZone(name: string, of: string, cpu: number): SimulatedNodeSpec {
  return { name, allocatable: { cpu: String(cpu) }, labels: { [zone]: of, [hostname]: name } };
}

/** Returns the zones of the pods. */
function zonesOf(stage: Stage, pods: readonly string[], zoneOf: ReadonlyMap<string, string>): readonly string[] {
  return [...new Set(pods.map((key) => zoneOf.get(nodeOf(stage.record, key) ?? '')!))].sort();
}

/** Adds the nodes and returns node name -> zone. */
async function addZones(stage: Stage, ...specs: readonly SimulatedNodeSpec[]): Promise<ReadonlyMap<string, string>> {
  const names = await stage.addNodes(...specs);
  return new Map(names.map((name, index) => [name, specs[index]!.labels![zone]!]));
}

/** Groups whose members have affinity, anti-affinity or spread constraints towards each other. */
export const places = {
  L1: scenario('a group that must be in one zone finds the zone that fits all of it', async (stage) => {
    const zoneOf = await addZones(
      stage,
      inZone('big', 'a', 5),
      inZone('left', 'b', 2),
      inZone('middle', 'b', 2),
      inZone('right', 'b', 2),
    );
    await stage.startScheduler();
    const member = { cpu: 1, labels: { role: 'rank' }, affinity: beside('rank', zone) };
    await stage.createGroup('ring', { minMember: 6 });
    const ring = await stage.createPods('ring', 6, { ...member, group: 'ring' });
    await expectBound(stage.record, ring);
    const zones = zonesOf(stage, ring, zoneOf);
    if (zones.join() !== 'b') throw new Error(`the ring is in the zones ${zones.join(', ')}`);
  }),

  L2: scenario('a group that fits in no zone is rejected as a whole, with the constraint that fails', async (stage) => {
    await addZones(stage, inZone('left', 'a', 3), inZone('right', 'b', 4));
    await stage.startScheduler();
    const member = { cpu: 1, labels: { role: 'rank' }, affinity: beside('rank', zone) };
    await stage.createGroup('ring', { minMember: 6 });
    const ring = await stage.createPods('ring', 6, { ...member, group: 'ring' });
    const says = ['of 6 members would fit', "node(s) didn't match pod affinity rules", 'Insufficient cpu'];
    await expectVerdict(stage.record, ring, { reason: 'Unschedulable', says });
    return () => expectNeverBound(stage.record, ring);
  }),

  L3: scenario(
    'members with anti-affinity get a node each, and wait together until there are enough nodes',
    async (stage) => {
      const [first] = await stage.addNodes(inZone('one', 'a', 8), inZone('two', 'a', 8));
      await stage.startScheduler();
      await stage.createGroup('apart', { minMember: 3 });
      const member = { cpu: 1, labels: { role: 'replica' }, affinity: apart('replica', hostname) };
      const pods = await stage.createPods('apart', 3, { ...member, group: 'apart' });
      const says = ['2 of 3 members would fit', "2 node(s) didn't match pod anti-affinity rules"];
      await expectVerdict(stage.record, pods, { reason: 'Unschedulable', says });
      expectNeverBound(stage.record, pods);
      await stage.addNodes(inZone('three', 'a', 8));
      await expectBound(stage.record, pods);
      const nodes = new Set(pods.map((key) => nodeOf(stage.record, key)));
      if (nodes.size !== 3 || !nodes.has(first)) throw new Error(`they are bound to ${[...nodes].join(', ')}`);
    },
  ),

  L4: scenario('workers that must be near their leader are planned with it', async (stage) => {
    const zoneOf = await addZones(stage, inZone('small', 'a', 3), inZone('left', 'b', 2), inZone('right', 'b', 3));
    await stage.startScheduler();
    await stage.createGroup('job', { minMember: 5 });
    const worker = { cpu: 1, labels: { role: 'worker' }, affinity: beside('leader', zone) };
    const job = await stage.createPods('worker', 4, { ...worker, group: 'job' });
    await expectVerdict(stage.record, job, { reason: 'WaitingForGang', says: ['has 4 of the 5 members'] });
    job.push(await stage.createPod('leader', { group: 'job', cpu: 1, labels: { role: 'leader' } }));
    await expectBound(stage.record, job);
    const zones = zonesOf(stage, job, zoneOf);
    if (zones.join() !== 'b') throw new Error(`the job is in the zones ${zones.join(', ')}`);
  }),

  L5: scenario('a group that is spread over zones is even, and waits when a zone is full', async (stage) => {
    const zoneOf = await addZones(stage, inZone('large', 'a', 16), inZone('tight', 'b', 1));
    await stage.startScheduler();
    await stage.createGroup('even', { minMember: 4 });
    const topologySpread = [
      {
        maxSkew: 1,
        topologyKey: zone,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { role: 'even' } },
      },
    ];
    const even = await stage.createPods('even', 4, { group: 'even', cpu: 1, labels: { role: 'even' }, topologySpread });
    const says = ['3 of 4 members would fit', "node(s) didn't match pod topology spread constraints"];
    await expectVerdict(stage.record, even, { reason: 'Unschedulable', says });
    expectNeverBound(stage.record, even);
    const more = await addZones(stage, inZone('wider', 'b', 4));
    await expectBound(stage.record, even);
    const counts = Map.groupBy(even, (key) => new Map([...zoneOf, ...more]).get(nodeOf(stage.record, key) ?? '')!);
    if (counts.get('a')?.length !== 2) throw new Error(`${counts.get('a')?.length} of 4 are in zone a`);
  }),
} satisfies Record<string, Scenario>;
