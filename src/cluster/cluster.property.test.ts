import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { isTerminal, isUnbound, planAnnotations } from '../api/pod.ts';
import type { Pod, RawPod } from '../api/pod.ts';
import { cpuId } from '../api/resource-names.ts';
import type { ResourceId } from '../api/resource-names.ts';
import { Cluster } from './cluster.ts';
import type { AssumptionOutcome } from './assumption.ts';
import { memberStates } from './gang-view.ts';
import type { Gang } from './gang.ts';
import type { GangSpec } from './gang-spec.ts';
import type { NodeInfo } from './node-info.ts';
import { Follower, recount, keptBy } from './testing/node-assignments.ts';
import type { Savepoint, Transaction } from './transaction.ts';

const nodeNames = ['a', 'b', 'c', 'd'];
const groupNames = ['red', 'blue'];
const uids = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'];

/** Changes from the API server, and committed changes of a cycle. */
const change = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('setNode' as const),
      name: fc.constantFrom(...nodeNames),
      isReady: fc.constantFrom(true, true, false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('removeNode' as const), name: fc.constantFrom(...nodeNames) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('setPod' as const),
      uid: fc.constantFrom(...uids),
      group: fc.option(fc.constantFrom(...groupNames), { nil: undefined, freq: 3 }),
      nodeName: fc.option(fc.constantFrom(...nodeNames), { nil: undefined }),
      phase: fc.constantFrom('Pending', 'Pending', 'Running', 'Succeeded', 'Failed'),
      deleting: fc.constantFrom(false, false, false, true),
      gated: fc.constantFrom(false, false, false, true),
      cpu: fc.constantFrom(1, 2),
      port: fc.constantFrom(undefined, 80, 81),
      plannedFor: fc.constantFrom(undefined, '1', '2', '3'),
      schedulerName: fc.constantFrom('ours', 'theirs'),
      nominatedNodeName: fc.option(fc.constantFrom(...nodeNames), { nil: undefined, freq: 2 }),
      app: fc.constantFrom('x', 'y'),
      awayFrom: fc.constantFrom(undefined, undefined, 'x', 'y'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('removePod' as const), uid: fc.constantFrom(...uids) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('setGang' as const),
      name: fc.constantFrom(...groupNames),
      uid: fc.constantFrom('1', '2', '3'),
      minMember: fc.integer({ min: 1, max: 4 }),
      started: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('removeGang' as const), name: fc.constantFrom(...groupNames) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('assume' as const),
      uid: fc.constantFrom(...uids),
      node: fc.constantFrom(...nodeNames),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), uid: fc.constantFrom(...uids) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('keep' as const),
      uid: fc.constantFrom(...uids),
      node: fc.constantFrom(...nodeNames),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), uid: fc.constantFrom(...uids) }) },
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/** Steps of a transaction. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('assume' as const),
      uid: fc.constantFrom(...uids),
      node: fc.constantFrom(...nodeNames),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('takeOut' as const), uid: fc.constantFrom(...uids) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('putBack' as const), uids: fc.subarray([...uids]) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('savepoint' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rollbackTo' as const), which: fc.nat(5) }) },
  // A reader uses the index of placed pods.
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('follow' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pause' as const), looks: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface AssumptionModel {
  readonly nodeName: string;
  /** Key and uid of the group in the pod's label at that time. */
  readonly groupKey: string | undefined;
  readonly groupUid: string | undefined;
}

interface GroupModel {
  spec: GangSpec | undefined;
  started: boolean;
  /** `startedSince` of a life that has ended. */
  outdated: string | undefined;
}

/** The cluster cache and a model that stores only the changes and recounts everything on each read. */
class Both {
  readonly build = new Builders();
  readonly cluster = new Cluster(this.build.resources);
  /** name -> allocatable cpu in millicores */
  readonly nodes = new Map<string, number>();
  readonly pods = new Map<string, Pod>();
  readonly assumed = new Map<string, AssumptionModel>();
  /** owner uid -> node of our own reservation */
  readonly ownReservations = new Map<string, string>();
  readonly groups = new Map<string, GroupModel>();
  /** Names of deleted nodes that are still in use; `notReady`: nodes that do not run pods. */
  readonly gone = new Set<string>();
  readonly notReady = new Set<string>();
  readonly #follower = new Follower(this.cluster);
  #version = 0;

  apply(change: Change): void {
    switch (change.kind) {
      case 'setNode': {
        const cpu = 4 + (this.#version++ % 3);
        this.nodes.set(change.name, cpu * 1000);
        const taints = change.isReady ? [] : ['node.kubernetes.io/unreachable:NoExecute'];
        this.cluster.setNode(this.build.projectedNode({ name: change.name, cpu, taints }));
        this.gone.delete(change.name);
        if (change.isReady) this.notReady.delete(change.name);
        else this.notReady.add(change.name);
        break;
      }
      case 'removeNode':
        if (this.nodes.delete(change.name)) this.gone.add(change.name);
        this.notReady.delete(change.name);
        this.cluster.removeNode(change.name);
        break;
      case 'setPod':
        this.#setPod(change);
        break;
      case 'removePod':
        this.#expectOutcome(this.cluster.removePod(change.uid), this.assumed.has(change.uid) ? 'contradicted' : 'none');
        this.pods.delete(change.uid);
        this.assumed.delete(change.uid);
        this.ownReservations.delete(change.uid);
        break;
      case 'setGang': {
        const spec = gangSpec(change.name, change);
        const group = this.#group(spec.key);
        if (group.spec?.uid !== spec.uid) Object.assign(group, { started: false, outdated: undefined });
        group.spec = spec;
        this.cluster.setGang(spec);
        break;
      }
      case 'removeGang': {
        const group = this.#group(`default/${change.name}`);
        group.spec = undefined;
        Object.assign(group, { started: false, outdated: undefined });
        this.cluster.removeGang(`default/${change.name}`);
        break;
      }
      case 'assume': {
        const transaction = this.cluster.begin();
        if (this.#assume(transaction, change.uid, change.node)) this.noteAssumption(change.uid, change.node);
        transaction.commit();
        break;
      }
      case 'forget': {
        const pod = this.pods.get(change.uid);
        if (pod !== undefined) this.cluster.forget(pod);
        this.assumed.delete(change.uid);
        break;
      }
      case 'keep': {
        const owner = this.pods.get(change.uid);
        if (owner === undefined || !isUnbound(owner)) break;
        this.cluster.reservation({ kind: 'repair', owner, nodeName: change.node, isKept: true });
        this.ownReservations.set(change.uid, change.node);
        break;
      }
      case 'release':
        // A nomination from the API server is not ours to release.
        if (this.ownReservations.delete(change.uid)) this.cluster.endReservation(change.uid);
        break;
    }
    for (const name of this.gone) if (!this.#isUsed(name)) this.gone.delete(name);
    this.#noteStarts();
  }

  #isUsed(nodeName: string): boolean {
    const isHere = (pod: Pod): boolean =>
      this.#placeOf(pod) === nodeName ||
      (isUnbound(pod) && (this.ownReservations.get(pod.uid) ?? pod.nominatedNodeName) === nodeName);
    return [...this.pods.values()].some(isHere);
  }

  noteAssumption(uid: string, nodeName: string): void {
    const { podGroupKey: groupKey } = this.pods.get(uid)!;
    this.assumed.set(uid, { nodeName, groupKey, groupUid: this.groups.get(groupKey ?? '')?.spec?.uid });
  }

  #setPod({
    group,
    gated,
    port,
    nodeName,
    nominatedNodeName,
    plannedFor,
    app,
    awayFrom,
    ...rest
  }: Extract<Change, { kind: 'setPod' }>): void {
    const pod = this.build.projectedPod({
      ...rest,
      labels: { app },
      ...(awayFrom !== undefined && { spec: { affinity: apartFrom(awayFrom) } }),
      ...(group !== undefined && { group }),
      ...(nodeName !== undefined && { nodeName }),
      ...(nominatedNodeName !== undefined && { nominatedNodeName }),
      ...(gated && { gates: ['wait'] }),
      ...(port !== undefined && { hostPorts: [port] }),
      ...(plannedFor !== undefined && { annotations: { [planAnnotations.groupUid]: plannedFor } }),
      resourceVersion: String(this.#version++),
    });
    const assumedOn = this.assumed.get(pod.uid)?.nodeName;
    let expected: AssumptionOutcome = 'none';
    if (assumedOn !== undefined) {
      if (isTerminal(pod)) expected = 'contradicted';
      else if (pod.nodeName === '') expected = 'kept';
      else expected = pod.nodeName === assumedOn ? 'confirmed' : 'contradicted';
    }
    this.#expectOutcome(this.cluster.setPod(pod), expected);
    if (expected !== 'kept') this.assumed.delete(pod.uid);
    if (!isUnbound(pod)) this.ownReservations.delete(pod.uid);
    if (isTerminal(pod) && pod.podGroupKey === undefined) this.pods.delete(pod.uid);
    else this.pods.set(pod.uid, pod);
  }

  /** `before`: the state before the transaction. */
  run(transaction: Transaction, steps: readonly Step[], before?: unknown): void {
    const savepoints: { readonly at: Savepoint; readonly harness: unknown }[] = [];
    for (const todo of steps) {
      switch (todo.kind) {
        case 'assume':
          this.#assume(transaction, todo.uid, todo.node);
          break;
        case 'takeOut': {
          const pod = this.pods.get(todo.uid);
          if (pod !== undefined) transaction.takeOut([pod]);
          break;
        }
        case 'putBack':
          transaction.putBack(todo.uids.flatMap((uid) => this.pods.get(uid) ?? []));
          break;
        case 'savepoint':
          savepoints.push({ at: transaction.savepoint(), harness: this.harness() });
          break;
        case 'rollbackTo': {
          const index = todo.which % Math.max(1, savepoints.length);
          const savepoint = savepoints[index];
          if (savepoint === undefined) break;
          transaction.rollbackTo(savepoint.at);
          expect(this.harness()).toEqual(savepoint.harness);
          savepoints.length = index + 1;
          break;
        }
        case 'follow':
          this.expectFollowed();
          break;
        case 'pause':
          this.#pause(todo.looks ? before : undefined);
          break;
      }
    }
  }

  /** `before`: the state to be seen during the pause; undefined: nothing is read. */
  #pause(before: unknown): void {
    const { generation } = this.cluster;
    const now = this.harness();
    this.cluster.pause();
    if (before !== undefined) {
      expect(this.harness()).toEqual(before);
      this.expectFollowed();
      this.expectRecount();
    }
    this.cluster.resume();
    expect(this.harness()).toEqual(now);
    expect(this.cluster.generation).toBe(generation);
  }

  /** Checks that following the changes yields the same counts as a recount. */
  expectFollowed(): void {
    expect(this.#follower.follow()).toEqual(recount(this.cluster));
    expect(keptBy(this.cluster)).toEqual(recount(this.cluster));
  }

  /** Assumes only what a cycle may: an unbound pod on a known node. */
  #assume(transaction: Transaction, uid: string, nodeName: string): boolean {
    const pod = this.pods.get(uid);
    const node = this.cluster.node(nodeName);
    if (pod?.nodeName !== '' || isTerminal(pod) || node === undefined || this.cluster.isAssumed(uid)) return false;
    transaction.assume(pod, node);
    return true;
  }

  #expectOutcome(outcome: AssumptionOutcome, expected: AssumptionOutcome): void {
    expect(outcome).toBe(expected);
  }

  /** Returns everything that the cluster cache exposes. */
  harness(): unknown {
    const infos = new Set<NodeInfo>(this.cluster.nodes);
    for (const pod of this.pods.values()) {
      const info = this.cluster.nodeOf(pod);
      if (info !== undefined) infos.add(info);
    }
    return {
      nodes: [...infos].map(nodeState),
      order: this.cluster.nodes.map((node) => node.name),
      pods: [...this.pods.values()].map((pod) => [
        this.cluster.pod(pod.uid) === pod,
        this.cluster.nodeOf(pod)?.name,
        this.cluster.isAssumed(pod.uid),
      ]),
      counts: [this.cluster.podCount, this.cluster.assumedCount],
      groups: [...this.cluster.gangs()].map(gangState),
      generations: [...this.cluster.generations.subarray(0, this.cluster.nodes.length)],
    };
  }

  expectRecount(): void {
    expect(this.cluster.nodes.map((node) => node.name).sort()).toEqual([...this.nodes.keys()].sort());
    this.cluster.nodes.forEach((node, index) => expect(node.index).toBe(index));
    for (const { index, generation } of this.cluster.nodes) expect(this.cluster.generations[index]).toBe(generation);
    this.#expectTerms();
    expect(this.cluster.podCount).toBe(this.pods.size);
    expect(this.cluster.assumedCount).toBe(this.assumed.size);
    for (const name of nodeNames) this.#expectNode(name);
    const keys = new Set([...this.groups.keys(), ...groupNames.map((name) => `default/${name}`)]);
    for (const key of keys) this.#expectGroup(key);
    this.#expectReservations();
  }

  /** Checks the affinity terms of all pods that are not terminal. */
  #expectTerms(): void {
    // Different pods may have the same terms.
    const actual = new Set<string>();
    this.cluster.affinityTerms.each((rules, namespace) => void actual.add(`${namespace} ${JSON.stringify(rules)}`));
    const saying = [...this.pods.values()].filter((pod) => !isTerminal(pod) && pod.template.podAffinity !== undefined);
    const expected = new Set(saying.map((pod) => `${pod.namespace} ${JSON.stringify(pod.template.podAffinity)}`));
    expect([...actual].sort()).toEqual([...expected].sort());
  }

  /** Checks that each pod has our own reservation, or otherwise a nomination from its nominatedNodeName. */
  #expectReservations(): void {
    const expected = [...this.pods.values()].filter(isUnbound).flatMap((pod) => {
      const nodeName = this.ownReservations.get(pod.uid) ?? pod.nominatedNodeName;
      return nodeName === '' ? [] : [`${pod.uid}@${nodeName}`];
    });
    const shown = [...this.cluster.reservations()].map(({ owner, nodeName }) => `${owner.uid}@${nodeName}`);
    expect(shown.sort()).toEqual(expected.sort());
    for (const node of this.cluster.nodes) {
      const here = expected.filter((reservation) => reservation.endsWith(`@${node.name}`));
      expect([...node.reservations.keys()].map((uid) => `${uid}@${node.name}`).sort()).toEqual(here);
    }
  }

  #placeOf(pod: Pod): string {
    return isTerminal(pod) ? '' : (this.assumed.get(pod.uid)?.nodeName ?? pod.nodeName);
  }

  #expectNode(name: string): void {
    const here = [...this.pods.values()].filter((pod) => this.#placeOf(pod) === name);
    for (const pod of here) expect(this.cluster.nodeOf(pod)?.pods.get(pod.uid)).toBe(pod);
    const info = this.cluster.node(name) ?? (here[0] && this.cluster.nodeOf(here[0]));
    if (info === undefined) return;
    expect([...info.pods.keys()].sort()).toEqual(here.map((pod) => pod.uid).sort());
    const requested = new Map<ResourceId, number>();
    for (const { template } of here) {
      template.requests.ids.forEach((id, i) =>
        requested.set(id, (requested.get(id) ?? 0) + template.requests.amounts[i]!),
      );
    }
    expect(new Map(info.requested.entries()), `what is requested of ${name}`).toEqual(requested);
    expect(info.nonZeroMilliCpu).toBe(sum(here.map((pod) => pod.template.nonZeroMilliCpu)));
    expect(info.nonZeroMemory).toBe(sum(here.map((pod) => pod.template.nonZeroMemory)));
    expect(ports(info.hostPorts)).toEqual(ports(here.flatMap((pod) => pod.template.hostPorts)));
    expect(info.allocatable.of(cpuId)).toBe(this.nodes.get(name) ?? 0);
  }

  #expectGroup(key: string): void {
    const gang = this.cluster.gang(key);
    const members = [...this.pods.values()].filter((pod) => pod.podGroupKey === key);
    const group = this.groups.get(key);
    if (members.length === 0 && group?.spec === undefined) {
      expect(gang).toBeUndefined();
      return;
    }
    const inState = (state: string): Pod[] => members.filter((pod) => this.#stateOf(pod) === state);
    for (const state of memberStates) {
      expect(gang!.count(state), `${state} of ${key}`).toBe(inState(state).length);
    }
    expect([...gang!.members.keys()].sort()).toEqual(members.map((pod) => pod.uid).sort());
    expect([...gang!.pending.keys()].sort()).toEqual(
      inState('pending')
        .map((pod) => pod.uid)
        .sort(),
    );
    for (const name of ['ours', 'theirs']) {
      const count = inState('pending').filter((pod) => pod.schedulerName === name).length;
      expect(gang!.pendingBySchedulerName.get(name) ?? 0).toBe(count);
    }
    expect(gang!.started).toBe(group?.started ?? false);
    const counted = [
      ...inState('bound'),
      ...inState('planned'),
      ...[...inState('succeeded'), ...inState('stranded')].filter(() => group?.started === true),
    ];
    expect(gang!.counted).toBe(counted.length);
    expect(members.filter(({ uid }) => gang!.counts(uid)).length).toBe(counted.length);
    expect(gang!.missing).toBe(Math.max(0, (group?.spec?.minMember ?? 0) - counted.length));
  }

  #stateOf(pod: Pod): (typeof memberStates)[number] {
    if (pod.phase === 'Failed' || (pod.phase === 'Succeeded' && pod.deleting)) return 'failed';
    if (pod.deleting) return 'leaving';
    const assumption = this.assumed.get(pod.uid);
    const hasPlace = assumption !== undefined || pod.nodeName !== '' || pod.phase === 'Succeeded';
    const plannedFor = assumption === undefined ? pod.plannedGroupUid : assumption.groupUid;
    const present = this.groups.get(pod.podGroupKey ?? '')?.spec?.uid;
    const isPlannedElse = assumption !== undefined && assumption.groupKey !== pod.podGroupKey;
    const isForAnother = isPlannedElse || (plannedFor !== undefined && plannedFor !== present);
    if (hasPlace && present !== undefined && isForAnother) return 'former';
    if (pod.phase === 'Succeeded') return pod.deleting ? 'failed' : 'succeeded';
    const { nodeName } = pod;
    if (nodeName !== '') return this.gone.has(nodeName) || this.notReady.has(nodeName) ? 'stranded' : 'bound';
    if (assumption !== undefined) return 'planned';
    return pod.schedulingGates.length > 0 ? 'gated' : 'pending';
  }

  #group(key: string): GroupModel {
    let group = this.groups.get(key);
    if (group === undefined) this.groups.set(key, (group = { spec: undefined, started: false, outdated: undefined }));
    return group;
  }

  #noteStarts(): void {
    for (const [key, group] of this.groups) {
      if (group.spec === undefined) continue;
      const done = [...this.pods.values()].filter(
        (pod) => pod.podGroupKey === key && ['bound', 'stranded', 'succeeded'].includes(this.#stateOf(pod)),
      );
      if (done.length === 0 && group.started) group.outdated = group.spec.startedSince;
      const { startedSince, minMember } = group.spec;
      const isConfirmed = startedSince !== undefined && startedSince !== group.outdated;
      group.started = done.length > 0 && (group.started || isConfirmed || done.length >= minMember);
    }
  }
}

/** Returns anti-affinity to pods with this label. */
function apartFrom(app: string): NonNullable<RawPod['spec']['affinity']> {
  return {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app } } },
      ],
    },
  };
}

function gangSpec(name: string, options: { uid: string; minMember: number; started: boolean }): GangSpec {
  const { uid, minMember, started } = options;
  return {
    source: 'scheduling.x-k8s.io',
    uid,
    minMember,
    startedSince: started ? '2026-01-01T00:00:00Z' : undefined,
    startsAnew: false,
    key: `default/${name}`,
    creationTimestamp: 0,
    minResources: undefined,
    scheduleTimeoutSeconds: undefined,
    confirmsStart: true,
    releases: false,
    repairGraceMs: 60_000,
  };
}

function nodeState(info: NodeInfo): unknown {
  return {
    name: info.name,
    index: info.index,
    node: info.node,
    generation: info.generation,
    allocatable: info.allocatable.entries(),
    requested: info.requested.entries(),
    nonZero: [info.nonZeroMilliCpu, info.nonZeroMemory],
    pods: [...info.pods.keys()],
    ports: ports(info.hostPorts),
    reservations: [...info.reservations.keys()],
  };
}

/** Returns the nodes and their pods as they are in the open transaction, without generations and reservations. */
function contentsOf(cluster: Cluster): unknown {
  return {
    nodes: cluster.nodes.map((node) => ({ ...(nodeState(node) as object), generation: 0, reservations: [] })),
    free: [0, 1, 3].map((id) => [cluster.capacity.free(id), cluster.capacity.largest(id)]),
    requested: [0, 1, 3].map((id) => [...cluster.amounts.of(id).requested.subarray(0, cluster.nodes.length)]),
    classes: keptBy(cluster),
  };
}

function gangState(gang: Gang): unknown {
  return {
    key: gang.key,
    spec: gang.spec,
    started: gang.started,
    members: [...gang.members.keys()],
    pending: [...gang.pending.keys()].sort(),
    counts: memberStates.map((state) => gang.count(state)),
    schedulers: [...gang.pendingBySchedulerName].sort(),
  };
}

function ports(list: readonly { readonly port: number }[]): number[] {
  return list.map(({ port }) => port).sort();
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

describe('the cluster cache', () => {
  it('always agrees with a recount; only another node, a terminal phase or deletion contradicts an assumption', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60, size: 'max' }), (changes) => {
        const both = new Both();
        for (const change of changes) {
          both.apply(change);
          both.expectRecount();
        }
      }),
      { numRuns: 150 },
    );
  });

  it('is restored exactly by a rollback and during a pause, including generations and orders', () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 50, size: 'max' }),
        fc.array(step, { maxLength: 25, size: 'max' }),
        (changes, steps) => {
          const both = new Both();
          for (const change of changes) both.apply(change);
          const before = both.harness();
          const transaction = both.cluster.begin();
          both.run(transaction, steps, before);
          transaction.rollback();
          expect(both.harness()).toEqual(before);
          both.expectRecount();
          both.expectFollowed();
        },
      ),
      { numRuns: 300 },
    );
  });

  it('keeps committed changes, and later accepts changes from the API server', () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 30, size: 'max' }),
        fc.array(step, { maxLength: 15, size: 'max' }),
        fc.array(change, { maxLength: 15, size: 'max' }),
        (changes, steps, later) => {
          const both = new Both();
          for (const change of changes) both.apply(change);
          const transaction = both.cluster.begin();
          const before = both.harness();
          both.run(
            transaction,
            steps.filter(({ kind }) => kind !== 'takeOut'),
            before,
          );
          const harness = both.harness();
          transaction.commit();
          expect(both.harness()).toEqual(harness);
          for (const pod of both.pods.values()) {
            if (both.cluster.isAssumed(pod.uid) && !both.assumed.has(pod.uid)) {
              both.noteAssumption(pod.uid, both.cluster.nodeOf(pod)!.name);
            }
          }
          both.expectRecount();
          both.expectFollowed();
          for (const change of later) both.apply(change);
          both.expectRecount();
          both.expectFollowed();
        },
      ),
      { numRuns: 150 },
    );
  });

  it('shows the same nodes when a transaction begins with only some pods as when the others are taken out', () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 50, size: 'max' }),
        fc.subarray(uids),
        fc.array(step, { maxLength: 25, size: 'max' }),
        fc.array(change, { maxLength: 10, size: 'max' }),
        (changes, kept, steps, later) => {
          const both = new Both();
          for (const change of changes) both.apply(change);
          const before = both.harness();
          const others = [...both.pods.values()].filter(({ uid }) => !kept.includes(uid));
          const takenOut = both.cluster.begin();
          takenOut.takeOut(others);
          const expected = contentsOf(both.cluster);
          takenOut.rollback();
          const transaction = both.cluster.begin({ onlyWith: kept.flatMap((uid) => both.pods.get(uid) ?? []) });
          expect(contentsOf(both.cluster)).toEqual(expected);
          both.expectFollowed();
          both.run(transaction, steps, before);
          both.expectFollowed();
          transaction.rollback();
          expect(both.harness()).toEqual(before);
          both.expectFollowed();
          for (const change of later) both.apply(change);
          both.expectRecount();
          both.expectFollowed();
        },
      ),
      { numRuns: 300 },
    );
  });

  it('never gives two states of a node the same generation', () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 30, size: 'max' }),
        fc.array(step, { maxLength: 15, size: 'max' }),
        fc.option(fc.subarray(uids)),
        (changes, steps, onlyWith) => {
          const both = new Both();
          /** generation -> state of the node */
          const seen = new Map<number, unknown>();
          const look = (): void => {
            for (const node of both.cluster.nodes) {
              const state = { name: node.name, free: Array.from({ length: 4 }, (_, id) => node.free(id)) };
              if (seen.has(node.generation)) expect(state).toEqual(seen.get(node.generation));
              seen.set(node.generation, state);
            }
          };
          for (const change of changes) {
            both.apply(change);
            look();
          }
          const transaction = both.cluster.begin(
            onlyWith === null ? {} : { onlyWith: onlyWith.flatMap((uid) => both.pods.get(uid) ?? []) },
          );
          look();
          for (const todo of steps) {
            both.run(transaction, [todo]);
            look();
          }
          transaction.rollback();
          look();
        },
      ),
      { numRuns: 100 },
    );
  });
});
