import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeOptions } from '../../../testkit/builders/node.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import type { Pod } from '../../../api/pod.ts';
import { memberStates } from '../../../cluster/gang-view.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { SchedulingEntity } from '../../../framework/scheduling-entity.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import type { Status } from '../../../framework/status.ts';
import type { DryRunOptions } from '../../../framework/dry-run.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { stateOfNode } from '../testing/state-of-node.ts';

const groupNames = ['red', 'blue'];
const nodeNames = ['a', 'b', 'c'];
const points = ['preFilter', 'preFilterAddPod', 'filter', 'preScore', 'score', 'reserve', 'unreserve'] as const;

const nodeClass: fc.Arbitrary<NodeOptions> = fc.record({
  cpu: fc.integer({ min: 1, max: 5 }),
  taints: fc.constantFrom([], [], ['a:NoSchedule']),
});

const podClass = fc.record({
  group: fc.option(fc.constantFrom(...groupNames), { freq: 4, nil: undefined }),
  cpu: fc.integer({ min: 1, max: 2 }),
  gpu: fc.constantFrom(0, 0, 1),
  hostPorts: fc.constantFrom<number[]>([], [], [80], [80, 443]),
  priority: fc.integer({ min: 0, max: 2 }),
  /** Whether the pod is bound to a node (perhaps an unknown one), assumed there, nominated, or none of these. */
  where: fc.constantFrom('none', 'none', 'bound', 'bound', 'assumed', 'nominated'),
  nodeName: fc.constantFrom(...nodeNames, 'unseen'),
  how: fc.constantFrom('running', 'running', 'running', 'gated', 'deleting', 'Succeeded', 'Failed'),
});
type PodClass = typeof podClass extends fc.Arbitrary<infer T> ? T : never;

const dryRunKind = fc.record({
  schedulingEntity: fc.nat(),
  isGang: fc.boolean(),
  without: fc.array(fc.nat(), { maxLength: 12 }),
  within: fc.option(fc.subarray([...nodeNames, 'unknown']), { nil: undefined }),
  need: fc.option(fc.nat(5), { nil: undefined }),
  /** The test plugin throws at this extension point, after `after` successful calls. */
  throwsAt: fc.option(fc.constantFrom(...points), { nil: undefined }),
  after: fc.nat(4),
});

interface Fault {
  throwsAt: (typeof points)[number] | undefined;
  after: number;
  within: () => void;
}

/** A plugin that only fails where and when `fault` says so, and calls `within` in Reserve. */
class FaultyPlugin implements Plugin {
  readonly name = 'FaultyPlugin';
  readonly #fault: Fault;
  sign = (): string => '';
  preFilter = (): undefined => this.#at('preFilter');
  preFilterAddPod = (): undefined => this.#at('preFilterAddPod');
  preFilterRemovePod = (): undefined => undefined;
  filter = (): undefined => this.#at('filter');
  preScore = (): undefined => this.#at('preScore');
  reserve = (): Status | undefined => {
    this.#fault.within();
    return this.#at('reserve');
  };
  unreserve = (): undefined => this.#at('unreserve');
  score = (): number => {
    this.#at('score');
    return 1;
  };

  constructor(fault: Fault) {
    this.#fault = fault;
  }

  #at(point: (typeof points)[number]): undefined {
    if (this.#fault.throwsAt === point && this.#fault.after-- <= 0) throw new Error('a bug');
    return undefined;
  }
}

function optionsOf({ group, cpu, gpu, hostPorts, priority, where, nodeName, how }: PodClass, i: number): PodOptions {
  return {
    name: `p${i}`,
    uid: `p${i}`,
    cpu,
    hostPorts,
    priority,
    ...(group !== undefined && { group }),
    ...(gpu > 0 && { requests: { cpu, 'example.com/gpu': gpu } }),
    ...(where === 'bound' && { nodeName }),
    ...(where === 'nominated' && { nominatedNodeName: nodeName }),
    ...(how === 'gated' && where !== 'bound' && { gates: ['shut'] }),
    ...(how === 'deleting' && { deleting: true }),
    ...((how === 'Succeeded' || how === 'Failed') && { phase: how }),
  };
}

/** The nodes, pods and dry runs of one test run. */
const scene = [
  fc.array(nodeClass, { minLength: 1, maxLength: 3 }),
  fc.array(podClass, { minLength: 1, maxLength: 12 }),
  fc.array(dryRunKind, { minLength: 1, maxLength: 4 }),
] as const;

/** Returns everything that a dry run must leave as it was. */
function all({ cluster, core, waitingPods, written, evicted, events, asked }: CoreHarness): unknown {
  const unseen = [...cluster.pods()].flatMap((pod) => cluster.nodeOf(pod) ?? []);
  return {
    nodes: [...new Set([...cluster.nodes, ...unseen])].map(stateOfNode),
    gangs: [...cluster.gangs()].map((gang) => ({
      key: gang.key,
      numbers: [gang.started, gang.missing, gang.counted, gang.incomplete],
      members: [...gang.members].map(([uid, pod]) => [uid, pod, gang.stateOf(uid)]),
      pending: [...gang.pending],
      names: [...gang.pendingBySchedulerName],
      counts: memberStates.map((state) => gang.count(state)),
    })),
    pods: [...cluster.pods()].map((pod) => [
      pod,
      cluster.nodeOf(pod)?.name,
      cluster.isAssumed(pod.uid),
      cluster.openPod(pod.uid)?.uid,
      cluster.reservationOf(pod.uid),
    ]),
    counts: [cluster.podCount, cluster.assumedCount, cluster.nodesRevision, waitingPods.size, asked],
    queue: [...core.queue.entities()].map((entity) => ({ ...entity })),
    reported: [written.length, evicted.length, events.length],
  };
}

function world(
  nodes: readonly NodeOptions[],
  podClasses: readonly PodClass[],
): { harness: CoreHarness; pods: Pod[]; fault: Fault } {
  const fault: Fault = { throwsAt: undefined, after: 0, within: () => undefined };
  const harness = new CoreHarness({ plugins: defaultPlugins, extra: [new FaultyPlugin(fault)] });
  const { cluster } = harness;
  nodes.forEach((node, i) => harness.node({ ...node, name: nodeNames[i]! }));
  for (const name of groupNames) harness.group({ name, minMember: 2 });
  const pods = podClasses.map((kind, i) => harness.pod(optionsOf(kind, i)));
  const transaction = cluster.begin();
  podClasses.forEach(({ where, nodeName }, i) => {
    const pod = cluster.openPod(`p${i}`);
    const node = cluster.node(nodeName);
    if (where === 'assumed' && pod !== undefined && node !== undefined) transaction.assume(pod, node);
  });
  transaction.commit();
  harness.core.begin();
  return { harness, pods, fault };
}

describe('a dry run', () => {
  it('leaves the cluster cache, the queue and the outside as they were, whatever its options and whichever call fails', () => {
    fc.assert(
      fc.property(...scene, (nodes, podClasses, dryRuns) => {
        const { harness, pods, fault } = world(nodes, podClasses);
        const unknownPod = harness.build.projectedPod({ name: 'unknown-pod', cpu: 1, nodeName: 'a' });
        for (const { schedulingEntity, isGang, without, within, need, throwsAt, after } of dryRuns) {
          const group = harness.cluster.gang(`default/${groupNames[schedulingEntity % 2]!}`)!;
          const subject: SchedulingEntity = isGang
            ? { kind: 'gang', gang: group }
            : { kind: 'pod', pod: pods[schedulingEntity % pods.length]! };
          const removed = new Set([...without].map((i) => [...pods, unknownPod][i % (pods.length + 1)]!));
          const options: DryRunOptions = {
            without: removed,
            ...(within !== undefined && { within: new Set(within) }),
            ...(need !== undefined && { need }),
          };
          fault.throwsAt = throwsAt;
          fault.after = after;
          fault.within = () => {
            expect(() => harness.core.dryRun(subject)).toThrow('already open');
          };
          const before = all(harness);
          const { fits, plan } = harness.core.dryRun(subject, options);
          expect(all(harness)).toEqual(before);
          if (need !== undefined) expect(fits).toBe(plan.length >= need);
          for (const { nodeName } of plan) if (within !== undefined) expect(within).toContain(nodeName);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('leaves no wrong verdict behind', () => {
    fc.assert(
      fc.property(...scene, (nodes, podClasses, dryRuns) => {
        const { harness, pods } = world(
          nodes,
          podClasses.map((kind) => ({ ...kind, where: kind.where === 'nominated' ? 'none' : kind.where })),
        );
        const { cluster, profile, core } = harness;
        for (const { schedulingEntity, without, within } of dryRuns) {
          const removed = new Set([...without].map((i) => pods[i % pods.length]!));
          const gang = cluster.gang(`default/${groupNames[schedulingEntity % 2]!}`)!;
          core.dryRun(
            { kind: 'gang', gang },
            { without: removed, ...(within !== undefined && { within: new Set(within) }) },
          );
        }
        for (const pod of pods) {
          if (cluster.openPod(pod.uid) === undefined) continue;
          for (const node of cluster.nodes) {
            const state = new CycleState();
            const isAdmitted = profile.preFilter(state, pod).status === undefined;
            const fits = isAdmitted && profile.filter(profile.localFilters, state, pod, node) === undefined;
            expect(core.dryRun({ kind: 'pod', pod }, { within: new Set([node.name]) }).fits).toBe(fits);
          }
        }
      }),
      { numRuns: 400 },
    );
  });
});
