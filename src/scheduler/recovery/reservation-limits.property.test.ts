import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planAnnotations } from '../../api/pod.ts';
import { cpuId } from '../../api/resource-names.ts';
import { amountOf } from '../../api/resource-list.ts';
import type { Reservation } from '../../cluster/reservation.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

const second = 1000;
const groups = ['red', 'blue'] as const;
type GroupName = (typeof groups)[number];

const group = fc.constantFrom(...groups);
const index = fc.nat(30);
/** What a user with rights in one namespace can do, and what time and the scheduler do. */
const trick = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('create' as const), group, cpu: fc.constantFrom(1, 2, 4) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('createMany' as const), group, cpu: fc.constantFrom(1, 4) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('place' as const), group, node: fc.nat(3), isForged: fc.boolean() }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('delete' as const), index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('relabel' as const), index, group }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('resize' as const), index, cpu: fc.constantFrom(0.5, 2, 100) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('spec' as const), group, minMember: fc.constantFrom(2, 4, 100, 100) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('recreate' as const), group }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('schedule' as const) }) },
  { weight: 9, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 5, 40) }) },
);
type Trick = typeof trick extends fc.Arbitrary<infer T> ? T : never;

/** A user, and the accounts of what their pods used and what was reserved for them. It shares no code with the scheduler. */
class Tenant {
  readonly core = new Scheduling({ plugins: defaultPlugins });
  /** pod -> the least cpu that it has requested since a Binding of the scheduler bound it, while it is a member of that group object */
  readonly #bound = new Map<string, { readonly cpu: number; readonly group: GroupName }>();
  readonly #pods = new Map<string, { cpu: number; group: GroupName }>();
  readonly #generations: Record<GroupName, number> = { red: 0, blue: 0 };
  readonly #minMember: Record<GroupName, number> = { red: 2, blue: 2 };
  /** Most members bound at the same time, for each group object. */
  readonly #most: Record<GroupName, number> = { red: 0, blue: 0 };
  /** Names of pods that a Binding had bound and that are gone. */
  readonly #lost = new Set<string>();
  /** Most cpu that members had bound at the same time since the namespace last had no reservation. */
  #mostBoundCpu = 0;
  #usedSeconds = 0;
  reservedSeconds = 0;
  reservations = 0;
  #serial = 0;

  constructor() {
    for (let i = 0; i < 4; i++) this.core.node({ name: `n${i}`, cpu: 6 });
    for (const name of groups) this.#show(name);
  }

  async run(todo: Trick): Promise<void> {
    switch (todo.kind) {
      case 'create':
        this.#create(todo.group, todo.cpu);
        break;
      case 'createMany':
        for (let i = 0; i < 4; i++) this.#create(todo.group, todo.cpu);
        break;
      case 'place': {
        const annotations = todo.isForged ? { [planAnnotations.groupUid]: this.#uidOf(todo.group) } : {};
        this.#create(todo.group, 4, { nodeName: `n${todo.node}`, annotations });
        break;
      }
      case 'delete': {
        const name = this.#pick(todo.index);
        if (name === undefined) break;
        if (this.#bound.delete(name)) this.#lost.add(name);
        this.#pods.delete(name);
        this.core.removePod(name);
        break;
      }
      case 'relabel': {
        const name = this.#pick(todo.index);
        const pod = name === undefined ? undefined : this.#pods.get(name)!;
        if (name === undefined || pod!.group === todo.group) break;
        pod!.group = todo.group;
        this.#bound.delete(name);
        this.core.change(name, { podGroupKey: `default/${todo.group}` });
        break;
      }
      case 'resize': {
        const name = this.#pick(todo.index);
        const bound = name === undefined ? undefined : this.#bound.get(name);
        if (name === undefined || bound === undefined) break;
        this.#bound.set(name, { ...bound, cpu: Math.min(bound.cpu, todo.cpu) });
        this.core.change(name, { template: this.core.harness.build.projectedPod({ cpu: todo.cpu }).template });
        break;
      }
      case 'spec':
        this.#minMember[todo.group] = todo.minMember;
        this.#show(todo.group);
        break;
      case 'recreate':
        this.core.removeGroup(`default/${todo.group}`);
        this.#generations[todo.group]++;
        this.#most[todo.group] = 0;
        for (const [name, bound] of this.#bound) if (bound.group === todo.group) this.#bound.delete(name);
        this.#show(todo.group);
        break;
      case 'schedule':
        await this.#schedule();
        break;
      case 'wait':
        await this.#wait(todo.seconds);
        break;
    }
    await this.core.settle();
    this.#check();
  }

  #create(name: GroupName, cpu: number, more: object = {}): void {
    const pod = `p${this.#serial++}`;
    this.#pods.set(pod, { cpu, group: name });
    this.core.pod({ name: pod, group: name, cpu, ...more });
  }

  /** Binds what the scheduler plans. */
  async #schedule(): Promise<void> {
    while ((await this.core.attempt()) !== undefined);
    for (let next = this.core.binds[0]; next !== undefined; next = this.core.binds[0]) {
      const { name, nodeName, annotations = {} } = next.binding;
      const pod = this.#pods.get(name);
      if (pod === undefined) {
        await this.core.reject(name, 'not found');
        continue;
      }
      await this.core.accept(name);
      this.core.change(name, { nodeName, plannedGroupUid: annotations[planAnnotations.groupUid] });
      this.#bound.set(name, { ...pod });
      this.#most[pod.group] = Math.max(this.#most[pod.group], this.#countOf(pod.group));
      this.#mostBoundCpu = Math.max(this.#mostBoundCpu, this.#boundCpu);
    }
  }

  /** Between two changes, reservations only end. What is left at the end of a second was there for all of it. */
  async #wait(seconds: number): Promise<void> {
    for (let i = 0; i < seconds; i++) {
      this.core.harness.clock.advance(second);
      await this.core.settle();
      this.#usedSeconds += this.#boundCpu;
      this.reservations = Math.max(this.reservations, this.#reservations.length);
      for (const reservation of this.#reservations) this.reservedSeconds += cpuOf(reservation);
      this.#check();
    }
  }

  #check(): void {
    const { cluster } = this.core.harness;
    let reserved = 0;
    const counts: Record<GroupName, number> = { red: 0, blue: 0 };
    for (const reservation of this.#reservations) {
      const name = reservation.owner.uid.replace('instead-of/', '');
      expect(this.#lost.has(name), `${name} was bound and lost`).toBe(true);
      reserved += cpuOf(reservation);
      counts[reservation.owner.podGroupKey!.replace('default/', '') as GroupName]++;
      if (reservation.isExclusive === true) expect(cluster.gang(reservation.owner.podGroupKey!)!.started).toBe(false);
    }
    expect(reserved, 'cpu reserved in the namespace').toBeLessThanOrEqual(this.#mostBoundCpu);
    if (reserved === 0) this.#mostBoundCpu = this.#boundCpu;
    for (const name of groups) {
      expect(counts[name] + this.#countOf(name), `members of ${name}`).toBeLessThanOrEqual(this.#most[name]);
    }
    expect(this.reservedSeconds).toBeLessThanOrEqual(2 * this.#usedSeconds);
  }

  get #reservations(): readonly Reservation[] {
    return [...this.core.harness.cluster.reservations()];
  }

  get #boundCpu(): number {
    return [...this.#bound.values()].reduce((sum, { cpu }) => sum + cpu, 0);
  }

  #countOf(name: GroupName): number {
    return [...this.#bound.values()].filter((bound) => bound.group === name).length;
  }

  #show(name: GroupName): void {
    this.core.group({ name, uid: this.#uidOf(name), minMember: this.#minMember[name], repairGraceSeconds: 300 });
  }

  #uidOf(name: GroupName): string {
    return `${name}-${this.#generations[name]}`;
  }

  #pick(position: number): string | undefined {
    const names = [...this.#pods.keys()];
    return names[position % Math.max(1, names.length)];
  }
}

function cpuOf({ owner }: Reservation): number {
  return amountOf(owner.template.requests, cpuId) / 1000;
}

test('whatever a user does in one namespace, reservations stay within what their bound members used (I10)', async () => {
  let reservedSeconds = 0;
  let most = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(trick, { maxLength: 80, size: 'max' }), async (tricks) => {
      const tenant = new Tenant();
      for (const todo of tricks) await tenant.run(todo);
      reservedSeconds += tenant.reservedSeconds;
      most = Math.max(most, tenant.reservations);
    }),
    { numRuns: 200 },
  );
  expect(reservedSeconds).toBeGreaterThan(0);
  expect(most).toBeGreaterThan(1);
});
