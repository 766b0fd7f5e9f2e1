import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planAnnotations } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import type { ReleaseOutcome } from '../ports.ts';

const second = 1000;
const graceSeconds = 20;
/** group name -> minMember and priority */
const groups = {
  red: { minMember: 3, priority: 0 },
  blue: { minMember: 2, priority: 5 },
  green: { minMember: 2, priority: 0 },
};
type GroupName = keyof typeof groups;
const groupNames = Object.keys(groups) as GroupName[];
const nodeNames = ['n0', 'n1', 'n2'] as const;

const index = fc.nat(30);
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('attempt' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('answer' as const), index, accepted: fc.constantFrom(true, true, false) }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('watch' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      group: fc.constantFrom(...groupNames, ...groupNames, undefined),
      isControlled: fc.constantFrom(true, true, true, false),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('recreate' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), index }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('go' as const), index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reject' as const), index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('finish' as const), index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stranger' as const), node: fc.constantFrom(...nodeNames) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('node' as const),
      node: fc.constantFrom(...nodeNames),
      to: fc.constantFrom('ready' as const, 'notReady' as const, 'gone' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), areCarriedOut: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('budget' as const), protects: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(2, 10, graceSeconds, 30) }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** The state of a group when the first scheduler takes over. `hasStarted`: all required members were bound before. */
const initialState = fc.record({
  bound: fc.integer({ min: 0, max: 2 }),
  waiting: fc.integer({ min: 0, max: 2 }),
  hasStarted: fc.boolean(),
  areControlled: fc.constantFrom(true, true, true, false),
});
const initialStates = fc.record({ red: initialState, blue: initialState, green: initialState });
type InitialStates = typeof initialStates extends fc.Arbitrary<infer T> ? T : never;

interface Stored {
  readonly name: string;
  readonly group: GroupName | undefined;
  readonly isControlled: boolean;
  nodeName: string;
  boundAt: number;
  annotations: Readonly<Record<string, string>>;
  phase: 'Pending' | 'Succeeded' | 'Failed';
  deleting: boolean;
  /** A release evicted the pod. */
  isReleased: boolean;
}

/** A minimal API server, controllers that recreate pods, and a scheduler that is restarted now and then. */
class World {
  readonly hasController: boolean;
  core: Scheduling;
  readonly pods = new Map<string, Stored>();
  readonly nodes = new Map<string, 'ready' | 'notReady'>(nodeNames.map((name) => [name, 'ready']));
  /** Groups that have had minMember bound members, whether or not a scheduler saw it. */
  readonly started = new Set<GroupName>();
  /** Groups of controlled pods that are gone and not recreated yet. */
  readonly toRecreate: GroupName[] = [];
  /** Nodes that rejected a pod. */
  readonly rejectors = new Set<string>();
  /** Changes that the watch has not delivered yet. */
  readonly unseen: (() => void)[] = [];
  releases = 0;
  /** Groups that had minMember bound members, maybe one after the other, at a restart: the new process cannot know whether they started. */
  readonly doubtful = new Set<GroupName>();
  protects = false;
  readonly problems: string[] = [];
  #serial = 0;
  #now = 0;

  constructor(hasController: boolean, initial: InitialStates) {
    this.hasController = hasController;
    this.core = this.#open();
    for (const group of groupNames) {
      const { bound, waiting, hasStarted, areControlled } = initial[group];
      for (let i = 0; i < bound + waiting; i++) {
        const node = i < bound ? nodeNames.find((name) => this.#free(name) > 0) : undefined;
        this.#store(group, areControlled, node);
      }
      if (hasStarted && bound > 0) this.started.add(group);
      this.#noteStart(group);
    }
    this.unseen.length = 0;
    this.#list();
  }

  async run(todo: Action): Promise<void> {
    const { core } = this;
    switch (todo.kind) {
      case 'attempt':
        await core.attempt();
        break;
      case 'answer': {
        const bind = core.binds[todo.index % Math.max(1, core.binds.length)];
        if (bind !== undefined) await this.#answer(bind.binding, todo.accepted);
        break;
      }
      case 'watch':
        this.unseen.shift()?.();
        break;
      case 'create':
        this.#create(todo.group, todo.isControlled);
        break;
      case 'recreate': {
        const group = this.toRecreate.shift();
        if (group !== undefined) this.#create(group, true);
        break;
      }
      case 'delete': {
        const pod = this.#pick(todo.index, ({ deleting }) => !deleting);
        if (pod !== undefined) this.#beginToGo(pod);
        break;
      }
      case 'go': {
        const pod = this.#pick(todo.index, ({ deleting }) => deleting);
        if (pod !== undefined) this.#go(pod);
        break;
      }
      case 'reject': {
        const pod = this.#pick(
          todo.index,
          ({ nodeName, phase, deleting }) => nodeName !== '' && phase === 'Pending' && !deleting,
        );
        if (pod === undefined) break;
        this.rejectors.add(pod.nodeName);
        this.#end(pod, 'Failed');
        break;
      }
      case 'finish': {
        const pod = this.#pick(
          todo.index,
          ({ nodeName, phase, deleting }) => nodeName !== '' && phase === 'Pending' && !deleting,
        );
        if (pod !== undefined) this.#end(pod, 'Succeeded');
        break;
      }
      case 'stranger':
        if (this.#free(todo.node) > 0) this.#create(undefined, false, todo.node);
        break;
      case 'node':
        this.#setNode(todo.node, todo.to);
        break;
      case 'restart':
        await this.#restart(todo.areCarriedOut);
        break;
      case 'budget':
        this.protects = todo.protects;
        break;
      case 'wait':
        await this.#wait(todo.seconds);
        break;
    }
    await this.core.settle();
    this.#expectReservations();
    expect(this.problems).toEqual([]);
  }

  /** Lets everything settle without further faults, then checks the outcome. */
  async finish(): Promise<void> {
    this.protects = false;
    for (const node of nodeNames) this.#setNode(node, 'ready');
    for (let round = 0; round < 40; round++) {
      while (this.unseen.length > 0) this.unseen.shift()!();
      for (const pod of [...this.pods.values()]) if (pod.deleting) this.#go(pod);
      while (this.toRecreate.length > 0) this.#create(this.toRecreate.shift(), true);
      while (this.unseen.length > 0) this.unseen.shift()!();
      await this.#wait(30);
      expect(this.problems).toEqual([]);
    }
    const before = this.releases;
    await this.#wait(3_600);
    expect(this.releases).toBe(before);
    expect([...this.core.harness.cluster.reservations()].map(({ owner }) => owner.uid)).toEqual([]);
    for (const name of groupNames) this.#expectAllOrNoneBound(name);
  }

  /** Advances the clock and runs all attempts. */
  async #wait(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 5) {
      const step = Math.min(5, left) * second;
      this.#now += step;
      this.core.harness.clock.advance(step);
      await this.core.settle();
      while ((await this.core.attempt()) !== undefined);
      if (seconds > 60 || left > 60) continue;
      while (this.core.binds.length > 0 && seconds === 30) await this.#answer(this.core.binds[0]!.binding, true);
    }
  }

  #open(): Scheduling {
    const release = (pod: Pod): Promise<ReleaseOutcome> => {
      const stored = this.pods.get(pod.name);
      if (stored === undefined || stored.deleting) return Promise.resolve('going');
      this.#checkRelease(stored);
      if (this.protects) return Promise.resolve('protected');
      this.releases++;
      stored.isReleased = true;
      this.#beginToGo(stored);
      return Promise.resolve('going');
    };
    const ports = { evictor: { evict: () => Promise.reject(new Error('this test has no preemption')), release } };
    const core = new Scheduling({ plugins: defaultPlugins, ports }, 'listing');
    core.harness.clock.advance(this.#now);
    return core;
  }

  #list(): void {
    for (const [name, state] of this.nodes) this.#showNode(name, state);
    for (const name of groupNames) this.#showGroup(name);
    for (const pod of this.pods.values()) this.core.pod(this.#asOptions(pod));
    this.core.start();
  }

  async #restart(areCarriedOut: boolean): Promise<void> {
    const { core } = this;
    const open = core.binds.map(({ binding }) => binding);
    void core.harness.core.stop();
    for (const binding of open) if (areCarriedOut) this.#carryOut(binding);
    for (const binding of open) await core.reject(binding.name, 'the process is dead');
    this.unseen.length = 0;
    this.core = this.#open();
    this.#list();
    for (const name of groupNames) {
      const onceOnNodes = this.#members(name).filter(({ nodeName }) => nodeName !== '');
      if (onceOnNodes.length >= groups[name].minMember) this.doubtful.add(name);
    }
  }

  #asOptions(pod: Stored): PodOptions {
    const { name, group, isControlled, nodeName, boundAt, annotations, phase, deleting } = pod;
    const bound = { type: 'PodScheduled', status: 'True', lastTransitionTime: new Date(boundAt).toISOString() };
    return {
      name,
      cpu: 1,
      phase,
      deleting,
      annotations,
      ...(group !== undefined && { group, priority: groups[group].priority }),
      ...(isControlled && { owner: 'job' }),
      ...(nodeName !== '' && { nodeName, conditions: [bound] }),
    };
  }

  #create(group: GroupName | undefined, isControlled: boolean, nodeName = ''): void {
    this.core.pod(this.#asOptions(this.#store(group, isControlled, nodeName)));
  }

  #store(group: GroupName | undefined, isControlled: boolean, nodeName = ''): Stored {
    const name = `p${this.#serial++}`;
    const boundAt = this.core.harness.clock.now();
    const rest = { annotations: {}, phase: 'Pending', deleting: false, isReleased: false } as const;
    const pod: Stored = { name, group, isControlled, nodeName, boundAt, ...rest };
    this.pods.set(name, pod);
    return pod;
  }

  async #answer(binding: PodBinding, accepted: boolean): Promise<void> {
    const isSent = accepted && isWanted(binding);
    if (!isSent) {
      await this.core.reject(binding.name, 'no');
      return;
    }
    const isBound = this.#carryOut(binding);
    if (isBound) await this.core.accept(binding.name);
    else await this.core.reject(binding.name, 'not found');
  }

  #carryOut({ name, nodeName, annotations = {} }: PodBinding): boolean {
    const pod = this.pods.get(name);
    if (pod === undefined || pod.deleting || pod.nodeName !== '') return false;
    Object.assign(pod, { nodeName, annotations, boundAt: this.core.harness.clock.now() });
    const plannedGroupUid = annotations[planAnnotations.groupUid];
    this.#show(pod, { nodeName, plannedGroupUid });
    this.#noteStart(pod.group);
    return true;
  }

  #beginToGo(pod: Stored): void {
    pod.deleting = true;
    this.#show(pod, { deleting: true });
    this.#noteEnd(pod.group);
  }

  #go(pod: Stored): void {
    this.pods.delete(pod.name);
    this.#noteEnd(pod.group);
    if (pod.isControlled && pod.group !== undefined && pod.phase === 'Pending') this.toRecreate.push(pod.group);
    const { core } = this;
    this.unseen.push(() => {
      if (core === this.core && core.harness.cluster.pod(pod.name) !== undefined) core.removePod(pod.name);
    });
  }

  #end(pod: Stored, phase: 'Succeeded' | 'Failed'): void {
    pod.phase = phase;
    if (phase === 'Failed' && pod.isControlled && pod.group !== undefined) this.toRecreate.push(pod.group);
    this.#show(pod, { phase, ...(phase === 'Failed' && { failedBecause: 'OutOfcpu' }) });
    this.#noteStart(pod.group);
    this.#noteEnd(pod.group);
  }

  /** Changes are delivered in order. */
  #show({ name }: Stored, change: Partial<Pod>): void {
    const { core } = this;
    this.unseen.push(() => {
      if (core === this.core && core.harness.cluster.pod(name) !== undefined) core.change(name, change);
    });
  }

  /** Counts members that are bound or succeeded. */
  #countOf(group: GroupName): number {
    return this.#members(group).filter(({ nodeName, phase, deleting }) => {
      return phase === 'Succeeded' || (nodeName !== '' && phase === 'Pending' && !deleting);
    }).length;
  }

  /** A group without bound members starts over, whatever its Started condition still says. */
  #noteEnd(group: GroupName | undefined): void {
    if (group === undefined || this.#countOf(group) > 0 || !this.started.delete(group)) return;
    const { core } = this;
    if (this.hasController) this.unseen.push(() => core === this.core && this.#showGroup(group));
  }

  #noteStart(group: GroupName | undefined): void {
    if (group === undefined || this.started.has(group)) return;
    if (this.#countOf(group) < groups[group].minMember) return;
    this.started.add(group);
    const { core } = this;
    if (this.hasController) this.unseen.push(() => core === this.core && this.#showGroup(group));
  }

  #showGroup(name: GroupName): void {
    const status = this.started.has(name) ? 'True' : 'False';
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const started = { type: 'Started', status, reason: 'x', message: '', lastTransitionTime } as const;
    this.core.group({
      name,
      minMember: groups[name].minMember,
      repairGraceSeconds: graceSeconds,
      createdAt: 0,
      ...(this.hasController && { status: { conditions: [started] } }),
    });
  }

  #setNode(name: string, to: 'ready' | 'notReady' | 'gone'): void {
    if (to === 'gone') {
      if (this.nodes.delete(name)) this.core.removeNode(name);
      return;
    }
    this.nodes.set(name, to);
    this.#showNode(name, to);
  }

  #showNode(name: string, state: 'ready' | 'notReady'): void {
    this.core.node({
      name,
      cpu: 2,
      ...(state === 'notReady' && { taints: ['node.kubernetes.io/not-ready:NoExecute'] }),
    });
  }

  #members(group: GroupName): Stored[] {
    return [...this.pods.values()].filter((pod) => pod.group === group);
  }

  #pick(index: number, isEligible: (pod: Stored) => boolean): Stored | undefined {
    const some = [...this.pods.values()].filter(isEligible);
    return some[index % Math.max(1, some.length)];
  }

  /** Free capacity according to the API, including bindings that the watch has not delivered. */
  #free(node: string): number {
    const here = [...this.pods.values()].filter(({ nodeName, phase }) => nodeName === node && phase === 'Pending');
    return 2 - here.length;
  }

  /** Checks that the pod has a controller, that its group has not started and does not fit, and that the scheduler releases no other group. */
  #checkRelease(pod: Stored): void {
    const { group, name } = pod;
    if (group === undefined) {
      this.problems.push(`${name} is in no group and was released`);
      return;
    }
    if (!pod.isControlled) this.problems.push(`${name} has no controller and was released`);
    if (this.started.has(group)) this.problems.push(`${group} has started and was released`);
    // An ended pod uses no capacity.
    const isGoing = ({ isReleased, nodeName, phase }: Stored): boolean =>
      isReleased && phase === 'Pending' && this.nodes.get(nodeName) === 'ready';
    const others = [...this.pods.values()].filter((other) => other.group !== group && isGoing(other));
    if (others.length > 0) this.problems.push(`${group} is released while ${others[0]!.group} is`);
    // The scheduler cannot know undelivered changes.
    if (this.unseen.length > 0) return;
    const members = this.#members(group).filter(({ phase, deleting }) => phase === 'Pending' && !deleting);
    const waiting = members.filter(({ nodeName }) => nodeName === '');
    const stranded = members.filter(({ nodeName }) => nodeName !== '' && this.nodes.get(nodeName) !== 'ready');
    const missing = groups[group].minMember - (members.length - waiting.length - stranded.length);
    let free = 0;
    for (const node of this.core.harness.cluster.nodes) {
      if (this.nodes.get(node.name) !== 'ready' || this.rejectors.has(node.name)) continue;
      const reserved = [...node.reservations.values()].filter(({ owner }) => owner.podGroupKey !== `default/${group}`);
      free += Math.max(0, 2 - node.pods.size - reserved.length);
    }
    if (waiting.length >= missing && free >= missing && this.rejectors.size === 0 && !this.#hasFailedBinding(waiting)) {
      this.problems.push(`${group} is released though ${missing} more would fit`);
    }
  }

  /** A node that keeps rejecting a member offers it no capacity. */
  #hasFailedBinding(waiting: readonly Stored[]): boolean {
    return (
      waiting.some(({ name }) => (this.core.queue.get(`pod/${name}`)?.errors ?? 0) > 0) || this.#bindingsFailed > 0
    );
  }

  get #bindingsFailed(): number {
    return this.core.harness.warnings.filter((message) => message === 'could not bind').length;
  }

  #expectReservations(): void {
    const { cluster } = this.core.harness;
    /** group -> number of reservations for replacements */
    const kept = new Map<string, number>();
    for (const { owner, kind } of cluster.reservations()) {
      if (!owner.uid.startsWith('instead-of/')) continue;
      expect(kind).toBe('repair');
      kept.set(owner.podGroupKey!, (kept.get(owner.podGroupKey!) ?? 0) + 1);
    }
    for (const [key, count] of kept) {
      const gang = cluster.gang(key);
      const live = gang!.count('bound') + (gang!.started ? gang!.count('succeeded') + gang!.count('stranded') : 0);
      expect(count, `reservations for ${key}`).toBeLessThanOrEqual(gang!.spec!.minMember - live);
    }
  }

  /** All members are bound or none, unless the group must not be released. */
  #expectAllOrNoneBound(name: GroupName): void {
    const gang = this.core.harness.cluster.gang(`default/${name}`)!;
    const members = this.#members(name).filter(({ phase, nodeName }) => phase === 'Pending' && nodeName !== '');
    if (gang.started || members.length === 0 || members.length >= groups[name].minMember) return;
    const isStuck = members.some(({ isControlled }) => !isControlled) || !this.hasController || this.doubtful.has(name);
    expect(isStuck, `${name} is on nodes with ${members.length} members`).toBe(true);
  }
}

function isWanted({ mayBeSent }: PodBinding): boolean {
  try {
    mayBeSent?.();
    return true;
  } catch {
    return false;
  }
}

describe('under losses, rejections, recreated pods and restarts', () => {
  it('releases only gangs that never started and that it cannot complete, one at a time, and ends all reservations', async () => {
    let releases = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(true, true, false),
        initialStates,
        fc.array(action, { maxLength: 60, size: 'max' }),
        async (hasController, initial, actions) => {
          const world = new World(hasController, initial);
          for (const todo of actions) await world.run(todo);
          await world.finish();
          releases += world.releases;
        },
      ),
      { numRuns: 150 },
    );
    expect(releases).toBeGreaterThan(0);
  });
});
