import { expect, it } from 'vitest';
import { isTerminal } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { seededRandom } from '../../base/random.ts';
import { runs } from '../../base/testing/runs.ts';
import { ForbiddenError, ServerError, TimeoutError } from '../../client/api-errors.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { PreemptionStory } from '../testing/preemption-story.ts';
import { PlanReservations } from './plan-reservations.ts';

const answer = { reason: '', request: '', causes: [] };
const errors = [
  () => new ForbiddenError('no', { status: 403, ...answer }),
  () => new ServerError('try later', { status: 500, ...answer }),
  () => new TimeoutError('no response', { ambiguous: true }),
];
const cpuPerNode = 5;
const priorities = [0, 10, 20, 30] as const;
const maxAttempts = 200;
const skip = new Status('Skip', '');

/** Many entities compete for few nodes. Requests wait, fail and are lost, and pods and nodes come and go. */
class Contention {
  readonly story: PreemptionStory;
  /** What has happened, to reproduce a failure. */
  readonly log: string[] = [];
  readonly #random: () => number;
  readonly #nodes = new Set<string>();
  /** group -> minMember */
  readonly #groups = new Map<string, number>();
  /** Groups that have lost a member for another reason than a preemption. */
  readonly #harmed = new Set<string>();
  /** Names of deletes whose victim had no mark. */
  readonly #unmarked: string[] = [];
  readonly #failed = new Set<string>();
  /** Ends PreBind of each pod that waits. */
  readonly #waits: (() => void)[] = [];
  #isResting = false;
  #attempts = 0;
  #names = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    const gate: Plugin = {
      name: 'Gate',
      permit: (_state, { labels }) => (labels.held === 'permit' && !this.#isResting ? { waitMs: 30_000 } : undefined),
      preBindPreFlight: (_state, { labels }) => (labels.held === 'preBind' ? undefined : skip),
      preBind: (_state, { name }, _nodeName, signal) =>
        new Promise((resolve, reject) => {
          this.#waits.push(() => resolve(undefined));
          if (this.#below(2) > 0) return;
          signal.addEventListener('abort', () => {
            if (this.#mayFail(name)) reject(new Error('aborted'));
          });
        }),
    };
    this.story = new PreemptionStory('DefaultPreemption', {}, [gate]);
    this.story.binding = (names) => {
      if (++this.#attempts > maxAttempts) throw new Error('attempts do not end');
      return this.#below(10) === 0 ? names.slice(0, 1).filter((name) => this.#mayFail(name)) : [];
    };
    this.story.lives = (verb, name) => this.#noteRequest(verb, name);
    for (const name of ['a', 'b', 'c']) this.#node(name);
    if (seed % 3 === 0) this.#crowd();
  }

  /** Several small pods make use of each large one that leaves. */
  #crowd(): void {
    for (const nodeName of this.#nodes)
      this.story.pod(`old-${nodeName}`, { nodeName, cpu: cpuPerNode - this.#below(2), phase: 'Running' });
    this.story.holds = (verb) => verb === 'delete';
    for (let i = 0; i < 8; i++) this.story.pod(`p${this.#names++}`, { priority: 20, cpu: 1 + this.#below(2) });
  }

  /** After two failures on a node, the pod would avoid it. */
  #mayFail(name: string): boolean {
    if (this.#failed.has(name)) return false;
    this.#failed.add(name);
    return true;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #one<T>(items: readonly T[]): T | undefined {
    return items[this.#below(items.length)];
  }

  #anyPod(is: (pod: Pod) => boolean): Pod | undefined {
    return this.#one(this.story.pods.filter(is));
  }

  #noteRequest(verb: string, name: string): boolean {
    const pod = this.story.stored(name);
    if (verb === 'delete' && pod !== undefined && !pod.deleting && pod.preemptionMark === undefined)
      this.#unmarked.push(name);
    return true;
  }

  #node(name: string): void {
    this.#nodes.add(name);
    this.story.node(name, cpuPerNode);
  }

  #arrive(): void {
    const priority = this.#one(priorities)!;
    const [cpu, held] = [1 + this.#below(4), this.#one(['no', 'no', 'no', 'permit', 'preBind'])!];
    if (this.#below(2) === 0) {
      this.story.pod(`p${this.#names++}`, { priority, cpu, labels: { held } });
      return;
    }
    const group = `g${this.#names++}`;
    const count = 2 + this.#below(3);
    const minMember = 1 + this.#below(count);
    this.#groups.set(group, minMember);
    this.story.group(group, minMember);
    const isMixed = this.#below(3) === 0;
    for (let i = 0; i < count; i++) {
      const own = isMixed ? this.#one(priorities)! : priority;
      this.story.pod(`${group}-${i}`, { group, priority: own, cpu: Math.min(cpu, 2), labels: { held } });
    }
  }

  #harm(pod: Pod | undefined): Pod | undefined {
    if (pod?.podGroupKey !== undefined) this.#harmed.add(pod.podGroupKey);
    return pod;
  }

  #removeNode(name: string): void {
    this.#nodes.delete(name);
    this.story.removeNode(name);
    for (const pod of this.story.pods) if (pod.nodeName === name) this.story.remove(this.#harm(pod)!.name);
  }

  #act(): string | Promise<unknown> {
    const { story } = this;
    switch (this.#below(17)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return (this.#arrive(), 'arrival');
      case 4: {
        const verb = this.#one(['mark', 'delete', 'delete', 'unmark'] as const)!;
        const share = this.#one([1, 0.5])!;
        story.holds = (each) => each === verb && this.#random() < share;
        return `holds ${verb}`;
      }
      case 5:
        return story.release();
      case 6: {
        const share = this.#random() / 2;
        story.fails = () => (this.#random() < share ? this.#one(errors)!() : undefined);
        story.loses = () => this.#below(3) === 0;
        return 'fails';
      }
      case 7:
        story.fails = () => undefined;
        return 'succeeds';
      case 8:
        if (this.#below(2) === 0) story.hides = () => this.#below(2) === 0;
        else {
          story.hides = () => false;
          story.reveal();
        }
        return 'hides';
      case 9:
      case 10: {
        const leaving = this.#anyPod(({ deleting }) => deleting);
        if (leaving !== undefined) story.remove(leaving.name);
        return `terminated ${leaving?.name}`;
      }
      case 11:
      case 12: {
        const { reserved } = story;
        const isWaiting = ({ name, nodeName }: Pod): boolean =>
          nodeName === '' && (name in reserved || this.#below(4) === 0);
        const gone = this.#anyPod((pod) => isWaiting(pod) || this.#below(6) === 0);
        if (gone !== undefined) story.remove(this.#harm(gone)!.name);
        return `gone ${gone?.name}`;
      }
      case 13: {
        const bound = this.#harm(this.#anyPod((pod) => pod.nodeName !== '' && !isTerminal(pod)));
        const change = this.#one([{ phase: 'Failed' }, { phase: 'Succeeded' }, { deleting: true }] as const)!;
        if (bound !== undefined) story.change(bound.name, change);
        return `${JSON.stringify(change)} ${bound?.name}`;
      }
      case 14: {
        const nodeName = this.#one([...this.#nodes])!;
        if (this.#below(3) > 0)
          story.pod(`f${this.#names++}`, { nodeName, cpu: 1, priority: this.#one(priorities)!, phase: 'Running' });
        else if (this.#nodes.size > 2) this.#removeNode(nodeName);
        else this.#node(`n${this.#names++}`);
        return 'nodes';
      }
      case 15:
        for (const end of this.#waits.splice(0)) end();
        return 'plugins end';
      default:
        return story.after(this.#one([30, 90, 400])!);
    }
  }

  async step(): Promise<void> {
    this.#attempts = 0;
    const act = this.#act();
    this.log.push(typeof act === 'string' ? act : 'wait or release');
    await act;
    await this.story.after(1);
    this.expectConsistent();
  }

  expectConsistent(): void {
    const { harness } = this.story.core;
    const { cluster, core } = harness;
    expect(this.#unmarked, 'deleted without a mark').toEqual([]);
    const plans = new Set<PlanReservations>();
    for (const { plan } of cluster.reservations()) if (plan instanceof PlanReservations) plans.add(plan);
    for (const plan of plans) {
      const missing = plan.nominations.filter(({ pod: { uid } }) => {
        const isPlaced = cluster.isAssumed(uid) || (cluster.pod(uid)?.nodeName ?? '') !== '';
        return !isPlaced && cluster.reservationOf(uid)?.plan !== plan;
      });
      expect(missing, `missing reservations of the plan of ${plan.owner.name}`).toEqual([]);
    }
    for (const node of cluster.nodes) {
      const there = [...node.pods.values()];
      if (there.some(({ name }) => name.startsWith('f'))) continue;
      const reserved = [...node.reservations.values()].filter(
        ({ plan, owner }) => plan !== undefined && !node.pods.has(owner.uid),
      );
      if (reserved.length === 0) continue;
      const staying = there.filter(
        (pod) => !isTerminal(pod) && !pod.deleting && core.preemptions.promisedTo(pod.uid) === undefined,
      );
      const pods = [...staying, ...reserved.map(({ owner }) => owner)];
      const cpu = pods.reduce((sum, { template }) => sum + template.nonZeroMilliCpu, 0);
      expect(cpu, `millicores of ${pods.map(({ name }) => name).join(', ')} on ${node.name}`).toBeLessThanOrEqual(
        cpuPerNode * 1_000,
      );
    }
  }

  /** Nothing fails any more, and pods terminate. */
  async rest(): Promise<void> {
    const { story } = this;
    this.#isResting = true;
    story.fails = () => undefined;
    story.hides = () => false;
    story.binding = () => {
      if (++this.#attempts > maxAttempts) throw new Error('attempts do not end');
      return [];
    };
    story.reveal();
    for (const seconds of [
      ...Array<number>(20).fill(5),
      ...Array<number>(12).fill(120),
      ...Array<number>(6).fill(3_700),
    ]) {
      this.#attempts = 0;
      await story.release();
      for (const end of this.#waits.splice(0)) end();
      await story.after(seconds);
      story.terminateAll();
    }
    await story.after(120);
  }

  async expectAtRest(): Promise<void> {
    const { story } = this;
    this.expectConsistent();
    for (const [group, minMember] of this.#groups) {
      const isEvicted = story.sent.some((sent) => sent.startsWith(`delete ${group}-`));
      if (!isEvicted || this.#harmed.has(`default/${group}`)) continue;
      const live = story.pods.filter(
        ({ podGroupKey, nodeName }) => podGroupKey === `default/${group}` && nodeName !== '',
      );
      expect(live.length === 0 || live.length >= minMember, `${group} has ${live.length} of ${minMember}`).toBe(true);
    }
    expect(story.core.harness.core.preemptions.inFlight, 'preemptions').toBe(0);
    const marked = story.pods.filter((pod) => pod.preemptionMark !== undefined && !pod.deleting && !isTerminal(pod));
    expect(
      marked.map(({ name }) => name),
      'marked',
    ).toEqual([]);
    const [bound, sent] = [story.bound, story.sent.length];
    story.takeOver();
    await story.core.settle();
    await story.run();
    for (const end of this.#waits.splice(0)) end();
    await story.run();
    expect([story.bound, story.sent.slice(sent)], 'what another process does at once').toEqual([bound, []]);
  }
}

it('whatever entities that compete do, plans are whole, groups keep their quorum, and nothing waits in vain', async () => {
  for (let seed = 1; seed <= runs(200); seed++) {
    const contention = new Contention(seed);
    try {
      for (let i = 0; i < 30; i++) await contention.step();
      await contention.rest();
      await contention.expectAtRest();
    } catch (error) {
      throw new Error(`seed ${seed}: ${contention.log.join(', ')}`, { cause: error });
    }
  }
});
