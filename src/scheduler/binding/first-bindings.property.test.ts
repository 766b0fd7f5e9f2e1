import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planAnnotations } from '../../api/pod.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import type { PendingBind } from '../../testkit/scheduling.ts';

const index = fc.nat(30);
const group = fc.constantFrom('red', 'blue');
const accepted = fc.constantFrom(true, true, true, false);
const action = fc.oneof(
  { weight: 22, arbitrary: fc.record({ kind: fc.constant('attempt' as const), inSteps: fc.boolean() }) },
  { weight: 15, arbitrary: fc.record({ kind: fc.constant('send' as const), index }) },
  { weight: 15, arbitrary: fc.record({ kind: fc.constant('answer' as const), index, accepted }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('watch' as const) }) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      group: fc.option(group, { freq: 4, nil: undefined }),
      cpu: fc.integer({ min: 1, max: 2 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), index }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('relabel' as const), index, group: fc.option(group, { nil: undefined }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('group' as const),
      group,
      minMember: fc.integer({ min: 1, max: 4 }),
      recreate: fc.constantFrom(true, false, false),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('node' as const), node: fc.nat(3), cpu: fc.constantFrom(0, 2, 3, 4, 5) }),
  },
  { weight: 7, arbitrary: fc.record({ kind: fc.constant('volume' as const), index, accepted }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('permit' as const), index, accepted }) },
  { weight: 15, arbitrary: fc.record({ kind: fc.constant('turn' as const) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(100, 1_000, 10_000) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** What the test plugin does for some of the pods. */
const pluginBehavior = fc.record({ hasVolumes: fc.boolean(), holdsOnPermit: fc.boolean(), bindsItself: fc.boolean() });
type PluginBehavior = typeof pluginBehavior extends fc.Arbitrary<infer T> ? T : never;

interface Stored {
  readonly name: string;
  readonly cpu: number;
  group: string | undefined;
  nodeName: string;
}

/** An API server behind a queue of bindings. Each waits until the test gives it its turn. */
class World {
  readonly core: Scheduling;
  readonly pods = new Map<string, Stored>();
  /** node -> cpu */
  readonly nodes = new Map<string, number>();
  /** group -> uid of its object */
  readonly groups = new Map<string, string>();
  /** pod -> its Binding, from when it may have been sent until it has failed or the watch has delivered it */
  readonly sent = new Map<string, PodBinding>();
  /** Bindings that took effect and that the watch has not delivered. */
  readonly unseen: PodBinding[] = [];
  /** Plans that have sent a binding, and uids of groups in index a plugin bound a member. Losses in these are repaired later. */
  readonly #begun = new Set<string>();
  /** pod -> ends its PreBind */
  readonly volumes = new Map<string, (status: Status | undefined) => void>();
  /** pod -> ends the plugin's Bind call */
  readonly byPlugin = new Map<string, (status: Status | undefined) => void>();
  #serial = 0;
  /** An attempt is open, and changes since its start are deferred until it ends. */
  #isBlind = false;
  #isOpen = false;

  /** A plan binds its members one by one, each in a turn of its own. */
  readonly #isOneByOne: boolean;

  constructor(behavior: PluginBehavior, isOneByOne: boolean) {
    const plugin = this.#plugin(behavior);
    this.#isOneByOne = isOneByOne;
    const plugins = [{ name: plugin.name, factory: () => plugin }, ...defaultPlugins];
    this.core = new Scheduling({ plugins, ...(isOneByOne && { workAtATime: 1 }) });
    for (let i = 0; i < 3; i++) this.#setNode(`n${i}`, 4);
    this.#setGroup('red', 2, true);
    this.#setGroup('blue', 3, true);
    this.core.queue.start();
  }

  async run(todo: Action): Promise<void> {
    const { core, pods, volumes } = this;
    switch (todo.kind) {
      case 'attempt':
        await this.#attempt(todo.inSteps);
        break;
      case 'send':
        await this.#send(pick(todo.index, this.#unsent()));
        break;
      case 'answer':
        await this.#answer(pick(todo.index, [...this.sent.keys()]), todo.accepted);
        break;
      case 'watch':
        this.#changed();
        this.#watch();
        break;
      case 'create':
        this.#create(todo.group, todo.cpu);
        break;
      case 'delete': {
        const name = pick(todo.index, [...pods.keys()]);
        if (name !== undefined) this.#delete(name);
        break;
      }
      case 'relabel': {
        const pod = pick(todo.index, [...pods.values()]);
        if (pod === undefined) break;
        this.#changed();
        pod.group = todo.group;
        core.change(pod.name, { podGroupKey: todo.group && `default/${todo.group}` });
        break;
      }
      case 'group':
        this.#setGroup(todo.group, todo.minMember, todo.recreate);
        break;
      case 'node':
        this.#setNode(`n${todo.node}`, todo.cpu);
        break;
      case 'volume':
        volumes.get(pick(todo.index, [...volumes.keys()]) ?? '')?.(todo.accepted ? undefined : failed('no volume'));
        break;
      case 'permit': {
        const pod = pick(todo.index, [...core.harness.waitingPods.all()]);
        if (todo.accepted) pod?.allow('Own');
        else pod?.reject('Own', 'no');
        break;
      }
      case 'turn':
        await this.#turns(1);
        break;
      case 'wait':
        core.harness.clock.advance(todo.ms);
    }
    await core.settle();
    this.#expectAssumed();
  }

  /** Adds capacity for all pods and lets everything settle. */
  async finish(): Promise<void> {
    const { core, volumes } = this;
    for (let i = 0; i < 4; i++) this.#setNode(`big${i}`, 64);
    for (let round = 0; round < 60; round++) {
      do await this.#attempt(false);
      while (core.queue.sizes.active > 0);
      for (const pod of core.harness.waitingPods.all()) pod.allow('Own');
      await this.#turns(1);
      for (const end of volumes.values()) end(undefined);
      await this.#turns(this.#turnsPerPlan);
      for (let next = this.#unsent()[0]; next !== undefined; next = this.#unsent()[0]) await this.#send(next);
      for (const name of this.sent.keys()) await this.#answer(name, true);
      while (this.unseen.length > 0) this.#watch();
      core.harness.clock.advance(10_000);
      await core.settle();
      this.#expectAssumed();
    }
    const { cluster, core: scheduler } = core.harness;
    expect([...scheduler.binding.starting].length).toBe(0);
    expect([scheduler.binding.running, cluster.assumedCount]).toEqual([0, 0]);
    for (const { key, spec, pending, missing } of cluster.gangs()) {
      if (spec !== undefined && pending.size >= missing) expect([...pending.keys()], key).toEqual([]);
    }
    const alone = [...this.pods.values()].filter((pod) => pod.group === undefined && pod.nodeName === '');
    expect(alone).toEqual([]);
  }

  #plugin({ hasVolumes, holdsOnPermit, bindsItself }: PluginBehavior): Plugin {
    const { volumes, byPlugin, sent } = this;
    return {
      name: 'Own',
      ...(hasVolumes && {
        preBind: (_state, { name }, _nodeName, signal) => {
          if (numberOf(name) % 3 !== 0) return Promise.resolve(undefined);
          return new Promise((resolve) => {
            const end = (status: Status | undefined): void => {
              if (volumes.get(name) === end) volumes.delete(name);
              resolve(status);
            };
            volumes.set(name, end);
            signal.addEventListener('abort', () => end(failed('aborted')));
          });
        },
      }),
      ...(holdsOnPermit && {
        permit: (_state, { name }) => (numberOf(name) % 5 === 0 ? { waitMs: 20_000 } : undefined),
      }),
      ...(bindsItself && {
        bind: (_state, { name, uid, podGroupKey }, nodeName) => {
          if (numberOf(name) % 4 !== 0) return Promise.resolve(new Status('Skip', ''));
          const groupUid = this.groups.get(podGroupKey?.split('/')[1] ?? '');
          const annotations: Record<string, string> =
            groupUid === undefined ? {} : { [planAnnotations.groupUid]: groupUid };
          sent.set(name, { namespace: 'default', name, uid, nodeName, annotations });
          return new Promise((resolve) => byPlugin.set(name, resolve));
        },
      }),
    };
  }

  async #attempt(inSteps: boolean): Promise<void> {
    const result = this.core.harness.core.attempt(inSteps ? 0 : Infinity);
    this.#isOpen = result?.kind === 'paused';
    if (!this.#isOpen) this.#isBlind = false;
    await this.core.settle();
  }

  /** More turns of the event loop than a plan takes to start all its Bindings. */
  get #turnsPerPlan(): number {
    return this.#isOneByOne ? 12 : 1;
  }

  async #turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      await this.core.settle();
    }
  }

  #changed(): void {
    this.#isBlind = this.#isOpen;
  }

  #unsent(): PendingBind[] {
    return this.core.binds.filter(({ binding }) => this.sent.get(binding.name) !== binding);
  }

  async #send(bind: PendingBind | undefined): Promise<void> {
    if (bind === undefined) return;
    const { name, nodeName, annotations } = bind.binding;
    const pod = this.pods.get(name);
    const gang = pod?.group === undefined ? undefined : this.core.harness.cluster.gang(`default/${pod.group}`);
    const plan = annotations?.[planAnnotations.plan] ?? '';
    const begun = [plan, gang?.spec?.uid ?? ''].some((id) => this.#begun.has(id));
    const isFirst = gang?.started === false && plan !== '' && !begun && this.#boundMembers(pod?.group).length === 0;
    if (!(await this.#isSent(bind))) return;
    this.#begun.add(plan);
    if (this.#isBlind) return;
    expect([pod?.name, this.nodes.has(nodeName)]).toEqual([name, true]);
    expect(this.#usedOn(nodeName), nodeName).toBeLessThanOrEqual(this.nodes.get(nodeName)!);
    if (!isFirst) return;
    for (let turn = 0; turn < this.#turnsPerPlan; turn++) {
      for (const other of this.#unsent()) {
        if (this.pods.get(other.binding.name)?.group === pod?.group) await this.#isSent(other);
      }
      await this.#turns(1);
    }
    expect(this.#boundMembers(pod?.group).length, pod?.group).toBeGreaterThanOrEqual(gang.spec!.minMember);
  }

  /** Gives the binding its turn. Returns true if it is sent. */
  async #isSent({ binding }: PendingBind): Promise<boolean> {
    try {
      binding.mayBeSent!();
      this.sent.set(binding.name, binding);
      return true;
    } catch (error) {
      await this.core.reject(binding.name, String(error));
      return false;
    }
  }

  async #answer(name: string | undefined, isAccepted: boolean): Promise<void> {
    const binding = this.sent.get(name ?? '');
    if (binding === undefined || name === undefined || this.unseen.includes(binding)) return;
    const isCarriedOut = isAccepted && this.pods.has(name) && this.nodes.has(binding.nodeName);
    if (isCarriedOut) this.unseen.push(binding);
    else this.sent.delete(name);
    const end = this.byPlugin.get(name);
    this.byPlugin.delete(name);
    if (end !== undefined && isCarriedOut) this.#begun.add(binding.annotations?.[planAnnotations.groupUid] ?? '');
    if (end !== undefined) end(isCarriedOut ? undefined : failed('no'));
    else if (isCarriedOut) await this.core.accept(name);
    else await this.core.reject(name, 'no');
    await this.core.settle();
  }

  #watch(): void {
    const binding = this.unseen.shift();
    const pod = binding && this.pods.get(binding.name);
    if (binding !== undefined) this.sent.delete(binding.name);
    if (binding === undefined || pod === undefined) return;
    pod.nodeName = binding.nodeName;
    this.core.change(pod.name, {
      nodeName: binding.nodeName,
      plannedGroupUid: binding.annotations?.[planAnnotations.groupUid],
    });
  }

  #create(ofGroup: string | undefined, cpu: number): void {
    this.#changed();
    const name = `p${this.#serial++}`;
    this.pods.set(name, { name, cpu, group: ofGroup, nodeName: '' });
    this.core.pod({ name, cpu, ...(ofGroup !== undefined && { group: ofGroup }) });
  }

  #delete(name: string): void {
    this.#changed();
    this.pods.delete(name);
    this.core.removePod(name);
  }

  #setGroup(name: string, minMember: number, recreate: boolean): void {
    this.#changed();
    if (recreate && this.groups.has(name)) this.core.removeGroup(`default/${name}`);
    if (recreate) this.groups.set(name, `${name}-${this.#serial++}`);
    this.core.group({ name, uid: this.groups.get(name)!, minMember });
  }

  /** With `cpu` 0, deletes the node and its pods. */
  #setNode(name: string, cpu: number): void {
    this.#changed();
    if (cpu > 0) {
      this.nodes.set(name, cpu);
      this.core.node({ name, cpu });
      return;
    }
    if (!this.nodes.delete(name)) return;
    this.core.removeNode(name);
    for (const pod of [...this.pods.values()]) if (pod.nodeName === name) this.#delete(pod.name);
  }

  #boundMembers(name: string | undefined): Stored[] {
    const ofGroup = [...this.pods.values()].filter((pod) => pod.group === name);
    return ofGroup.filter((pod) => pod.nodeName !== '' || this.sent.has(pod.name));
  }

  #usedOn(node: string): number {
    let used = 0;
    for (const { name, nodeName, cpu } of this.pods.values()) {
      if (nodeName === node || this.sent.get(name)?.nodeName === node) used += cpu;
    }
    return used;
  }

  /** Checks that a pod stays assumed while its binding is in progress. */
  #expectAssumed(): void {
    if (this.#isOpen) return;
    for (const name of this.sent.keys()) {
      if (this.pods.has(name)) expect(this.core.harness.cluster.isAssumed(name), name).toBe(true);
    }
  }
}

function pick<T>(number: number, list: readonly T[]): T | undefined {
  return list[number % Math.max(1, list.length)];
}

function numberOf(name: string): number {
  return Number(name.slice(1));
}

function failed(message: string): Status {
  return new Status('Error', message);
}

describe('the first binding of a group', () => {
  it('is only sent if the rest of its quorum may follow at once, and no member waits forever', async () => {
    await fc.assert(
      fc.asyncProperty(
        pluginBehavior,
        fc.boolean(),
        fc.array(action, { minLength: 40, maxLength: 120, size: 'max' }),
        async (behavior, isOneByOne, actions) => {
          const world = new World(behavior, isOneByOne);
          for (const todo of actions) await world.run(todo);
          await world.finish();
        },
      ),
      { numRuns: 150 },
    );
  });
});
