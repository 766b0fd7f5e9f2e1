import { expect, it } from 'vitest';
import { cpuId } from '../../api/resource-names.ts';
import { runs } from '../../base/testing/runs.ts';
import { seededRandom } from '../../base/random.ts';
import type { Reservation, ReservationPlan } from '../../cluster/reservation.ts';
import type { PlanReservations } from '../preemption/plan-reservations.ts';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import { BackfillStory } from '../testing/backfill-story.ts';
import type { BackfillStoryOptions } from '../testing/backfill-story.ts';

interface Options extends BackfillStoryOptions {
  readonly seed: number;
  readonly hasPools: boolean;
  /** Whether changes arrive between the steps of attempts. */
  readonly interrupts?: boolean;
  readonly steps?: number;
}

/** A random story: pods and gangs come and end, members are replaced, nodes come, go, and are cordoned. */
class RandomStory {
  readonly story: BackfillStory;
  readonly log: string[] = [];
  readonly #options: Options;
  readonly #random: () => number;
  readonly #nodes = new Map<string, NodeOptions>();
  readonly #pending = new Set<string>();
  readonly #gangs: string[] = [];
  /** uid -> whether its end is declared */
  readonly #declared = new Map<string, boolean>();
  #serial = 0;
  #isInterrupting = false;
  /** How many more changes may interrupt attempts until time passes. */
  #interrupts = 0;
  /** owner -> its reservation before the latest attempts */
  readonly #reservedBefore = new Map<
    string,
    {
      readonly nodeName: string;
      readonly readySince: number;
      readonly priority: number;
      readonly nominated: ReadonlySet<string>;
    }
  >();
  #runningBefore = new Set<string>();
  readonly #elsewhere = new Set<string>();
  /** Number of pods that were placed beside a reservation although they declare no end. */
  backfilled = 0;
  /** Number of reservations seen. */
  turns = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    const { seed: _seed, hasPools, interrupts = false, steps: _steps, ...rest } = options;
    const bindFails = (): boolean => this.#random() < 0.03;
    this.story = new BackfillStory({
      ...rest,
      ...(hasPools && { poolLabel: 'pool' }),
      bindFails,
      drainAfterMs: 120_000,
      reserveAfterMs: 20_000,
      ...(interrupts && { paused: () => this.#interrupt() }),
    });
    for (let i = 0; i < 4; i++) this.#addNode();
  }

  async run(): Promise<void> {
    for (let i = 0; i < (this.#options.steps ?? 60); i++) {
      this.#act();
      if (this.#random() < 0.4) this.#act();
      await this.#tick(this.#pick([0, 1, 5, 20, 40]));
    }
  }

  /** Nothing arrives any more and all nodes are back. */
  async drain(): Promise<void> {
    for (const node of this.#nodes.values()) this.#setNode({ ...node, unschedulable: false, taints: [] });
    for (let i = 0; i < 60 && this.story.core.queue.entities()[Symbol.iterator]().next().done !== true; i++) {
      await this.#tick(60);
      // Overruns end too.
      if (i % 5 === 4) for (const name of this.story.runningNames) this.story.end(name);
    }
  }

  /** Records what is reserved before the next attempts, which must not place pods there that declare no end. */
  #note(): void {
    const { core } = this.story;
    this.#reservedBefore.clear();
    for (const { kind, owner, nodeName, plan } of core.harness.cluster.reservations()) {
      if (kind !== 'backfill') continue;
      const key = owner.podGroupKey === undefined ? `pod/${owner.uid}` : `gang/${owner.podGroupKey}`;
      const readySince = core.queue.get(key)?.readySince ?? Infinity;
      const here = [...core.harness.cluster.reservationsOn(nodeName)];
      const nominated = new Set(here.flatMap((each) => (each.kind === 'backfill' ? [] : [each.owner.uid])));
      this.#reservedBefore.set(owner.uid, { nodeName, readySince, priority: plan!.priority, nominated });
    }
    this.#runningBefore = new Set(this.story.runningNames);
  }

  #checkBackfilled(): void {
    const { cluster } = this.story.core.harness;
    for (const name of this.story.runningNames) {
      const pod = cluster.pod(name);
      if (this.#runningBefore.has(name) || this.#elsewhere.has(name) || pod === undefined) continue;
      if (pod.podGroupKey !== undefined || this.#declared.get(name) !== false) continue;
      const node = cluster.nodeOf(pod)!;
      let reserved = 0;
      for (const { owner, kind, nodeName } of cluster.reservationsOn(node.name)) {
        const before = this.#reservedBefore.get(owner.uid);
        if (kind !== 'backfill' || before?.nodeName !== nodeName) continue;
        // An entity that evicts pods from the node has come to terms with the reservation.
        if (before.nominated.has(name)) continue;
        if (before.priority >= pod.priority && before.readySince < pod.creationTimestamp) {
          reserved += owner.template.requests.amounts[0]!;
          this.backfilled++;
        }
      }
      if (reserved === 0) continue;
      // Pods that came at the same time and declare an end may use reserved capacity.
      let unused = node.free(cpuId);
      for (const other of node.pods.values()) {
        const mayPass = !this.#runningBefore.has(other.name) && this.#declared.get(other.name) === true;
        if (mayPass) unused += other.template.requests.amounts[0]!;
      }
      expect(unused, `${name} on ${node.name}`).toBeGreaterThanOrEqual(reserved);
    }
  }

  async #tick(seconds: number): Promise<void> {
    this.#interrupts = 3;
    this.#note();
    await this.story.pass(seconds, () => {
      this.check();
      this.#checkBackfilled();
      this.#note();
    });
    this.check();
    this.#checkBackfilled();
  }

  #interrupt(): void {
    if (this.#isInterrupting || this.#interrupts === 0 || this.#random() < 0.8) return;
    this.#interrupts--;
    this.#isInterrupting = true;
    this.#act();
    this.#isInterrupting = false;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }

  #setNode(node: NodeOptions): void {
    this.#nodes.set(node.name!, node);
    this.story.core.node(node);
  }

  #addNode(): void {
    const name = `n${this.#serial++}`;
    this.#setNode({ name, cpu: 4, labels: { pool: this.#pick(['x', 'y']) } });
  }

  #removeNode(name: string): void {
    for (const pod of this.story.runningNames) if (this.story.nodeOf(pod) === name) this.story.remove(pod);
    this.#nodes.delete(name);
    this.story.core.removeNode(name);
  }

  #addPod(name: string, options: object = {}): void {
    const runtime = this.#pick([undefined, undefined, 30, 60, 300, 600]);
    const real = this.#pick([10, 60, 300, 900]);
    const runs = runtime === undefined ? real : this.#pick([runtime, runtime, Math.ceil(runtime / 2), runtime * 3]);
    this.#declared.set(name, runtime !== undefined);
    this.#pending.add(name);
    this.story.pod(
      name,
      {
        cpu: this.#pick([1, 1, 2, 3, 4]),
        priority: this.#pick([0, 0, 0, 0, 10]),
        ...(runtime !== undefined && { runtime: `${runtime}s` }),
        ...(this.#random() < 0.7 && { job: `job-${Math.floor(this.#random() * 4)}` }),
        ...options,
      },
      runs,
    );
  }

  get #open(): string[] {
    const { core } = this.story;
    return [...this.#pending].filter((name) => core.has(name) && core.harness.cluster.openPod(name) !== undefined);
  }

  #act(): void {
    const { story } = this;
    const running = story.runningNames;
    const action = this.#pick([
      ...['pod', 'pod', 'pod', 'gang', 'gang', 'end', 'remove', 'replace', 'cordon', 'node', 'removeNode'],
      ...['terminate', 'nominate', 'elsewhere', 'relabel', 'minMember', 'removeGroup', 'taint'],
    ]);
    this.log.push(action);
    switch (action) {
      case 'pod':
        this.#addPod(`p${this.#serial++}`);
        return;
      case 'gang': {
        const group = `g${this.#serial++}`;
        const count = this.#pick([2, 2, 3, 4, 6]);
        const minMember = this.#pick([count, count, Math.max(1, count - 1)]);
        story.core.group({ name: group, minMember });
        this.#gangs.push(group);
        const same = this.#pick([{}, { cpu: this.#pick([2, 4]), priority: this.#pick([0, 0, 10]) }]);
        for (let i = 0; i < count; i++) this.#addPod(`${group}-${this.#serial++}`, { group, ...same });
        return;
      }
      case 'end':
        if (running.length > 0) story.end(this.#pick(running));
        return;
      case 'remove': {
        const all = [...this.#open, ...running];
        if (all.length > 0) story.remove(this.#pick(all));
        return;
      }
      case 'replace': {
        const members = this.#open.filter((name) => name.startsWith('g'));
        if (members.length === 0) return;
        const old = this.#pick(members);
        const group = old.slice(0, old.indexOf('-'));
        story.remove(old);
        this.#addPod(`${group}-${this.#serial++}`, { group });
        return;
      }
      case 'cordon': {
        const node = this.#pick([...this.#nodes.values()]);
        this.#setNode({ ...node, unschedulable: node.unschedulable !== true });
        return;
      }
      case 'taint': {
        const node = this.#pick([...this.#nodes.values()]);
        this.#setNode({ ...node, taints: this.#pick([[], ['a:NoSchedule'], ['a:NoExecute']]) });
        return;
      }
      case 'relabel': {
        const node = this.#pick([...this.#nodes.values()]);
        this.#setNode({
          ...node,
          labels: this.#pick<Readonly<Record<string, string>>>([{}, { pool: 'x' }, { pool: 'y' }, { pool: '' }]),
        });
        return;
      }
      case 'node':
        if (this.#nodes.size < 6) this.#addNode();
        return;
      case 'removeNode':
        if (this.#nodes.size > 3) this.#removeNode(this.#pick([...this.#nodes.keys()]));
        return;
      case 'terminate': {
        if (running.length === 0) return;
        const deletionTimestamp = Math.floor(story.now / 1000) + this.#pick([0, 30, 600]);
        story.core.change(this.#pick(running), { deleting: true, deletionTimestamp });
        return;
      }
      case 'nominate': {
        if (this.#open.length === 0) return;
        story.core.change(this.#pick(this.#open), { nominatedNodeName: this.#pick(['', ...this.#nodes.keys()]) });
        return;
      }
      case 'elsewhere': {
        if (this.#isInterrupting) return;
        const open = this.#open.filter((name) => !story.core.harness.cluster.isAssumed(name));
        if (open.length === 0) return;
        const name = this.#pick(open);
        const pod = story.core.harness.cluster.openPod(name)!;
        const fits = [...this.#nodes.keys()].filter(
          (node) => (story.core.harness.cluster.node(node)?.free(cpuId) ?? 0) >= pod.template.requests.amounts[0]!,
        );
        this.#elsewhere.add(name);
        if (fits.length > 0) story.boundElsewhere(name, this.#pick(fits));
        return;
      }
      case 'minMember':
        if (this.#gangs.length > 0)
          story.core.group({ name: this.#pick(this.#gangs), minMember: this.#pick([1, 2, 3, 4]) });
        return;
      case 'removeGroup':
        if (this.#gangs.length > 0 && this.#random() < 0.3) {
          const [group] = this.#gangs.splice(Math.floor(this.#random() * this.#gangs.length), 1);
          story.core.removeGroup(`default/${group}`);
        }
        return;
    }
  }

  check(): void {
    const { core } = this.story;
    const { cluster } = core.harness;
    for (const { name, pods, node } of cluster.nodes) {
      let used = 0;
      for (const pod of pods.values()) used += pod.template.requests.amounts[0]!;
      expect(used, `use of ${name}`).toBeLessThanOrEqual(4000);
      void node;
    }
    const byPlan = new Map<ReservationPlan, Reservation[]>();
    for (const reservation of cluster.reservations()) {
      if (reservation.kind !== 'backfill') continue;
      byPlan.set(reservation.plan!, [...(byPlan.get(reservation.plan!) ?? []), reservation]);
    }
    const keys = new Set<string>();
    for (const [plan, standing] of byPlan) {
      this.turns++;
      const { nominations } = plan as PlanReservations;
      expect(standing.map(({ owner, nodeName }) => `${owner.name} ${nodeName}`).sort(), 'the plan is whole').toEqual(
        nominations.map(({ pod, nodeName }) => `${pod.name} ${nodeName}`).sort(),
      );
      const owner = nominations[0]!.pod;
      const key = owner.podGroupKey === undefined ? `pod/${owner.uid}` : `gang/${owner.podGroupKey}`;
      const entity = core.queue.get(key) ?? core.queue.get(`pod/${owner.uid}`);
      expect(entity, `${key} is queued`).toBeDefined();
      expect(entity!.state.kind, key).not.toBe('gated');
      expect(keys.has(entity!.key)).toBe(false);
      keys.add(entity!.key);
      for (const { pod } of nominations) expect(cluster.openPod(pod.uid), pod.name).toBeDefined();
    }
    if (!this.#options.hasPools) expect(keys.size).toBeLessThanOrEqual(1);
  }

  get state(): unknown {
    const { story } = this;
    return [story.runningNames.map((name) => `${name} ${story.nodeOf(name)}`), story.reserved, story.core.states()];
  }
}

async function tell(options: Options): Promise<RandomStory> {
  const random = new RandomStory(options);
  try {
    await random.run();
    random.check();
  } catch (error) {
    (error as Error).message +=
      ` seed ${options.seed}, after ${random.log.slice(-6).join(', ')} (${random.log.length})`;
    throw error;
  }
  return random;
}

it.each([false, true])('keeps whole turns of entities that wait (pools: %s)', async (hasPools) => {
  let turns = 0;
  for (let seed = 1; seed <= runs(100); seed++) turns += (await tell({ seed, hasPools })).turns;
  expect(turns).toBeGreaterThan(runs(100));
});

it('keeps whole turns whatever happens between the steps of an attempt', async () => {
  for (let seed = 1; seed <= runs(30); seed++)
    await tell({ seed, hasPools: seed % 2 === 0, interrupts: true, work: 1 + (seed % 7) });
});

it('makes the same decisions in steps as at once', async () => {
  for (let seed = 1; seed <= runs(100); seed++) {
    const atOnce = await tell({ seed, hasPools: seed % 2 === 0 });
    const inSteps = await tell({ seed, hasPools: seed % 2 === 0, work: 1 + (seed % 5) });
    expect(inSteps.state, `seed ${seed}`).toEqual(atOnce.state);
  }
});

it('starts everything that fits alone once nothing else arrives, and then reserves nothing', async () => {
  for (let seed = 1; seed <= runs(60); seed++) {
    const random = await tell({ seed, hasPools: false });
    await random.drain();
    const { story } = random;
    const waiting = Object.entries(story.core.states()).filter(([, state]) => state !== 'gated');
    for (const [key] of waiting) {
      const { schedulingEntity } = story.core.queue.get(key)!;
      expect(story.core.harness.core.dryRun(schedulingEntity).fits, `seed ${seed} ${key}`).toBe(false);
    }
    expect(story.reserved).toEqual({});
  }
});
