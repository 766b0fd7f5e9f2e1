import { expect, it } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { runs } from '../../base/testing/runs.ts';
import { PreemptionStory } from '../testing/preemption-story.ts';

const priorities = [0, 10, 20, 30] as const;
const arrivalSeconds = 1_000;
const seconds = 10_000;

/** Pods and gangs arrive at random on a full cluster, and owners re-create at once what is evicted. */
class Arrivals {
  readonly story = new PreemptionStory('DefaultPreemption');
  /** When each delete was sent, in seconds. */
  readonly deletes: number[] = [];
  readonly #random: () => number;
  /** name of a pod or a group -> its priority, and the group of a pod */
  readonly #specs = new Map<string, { readonly group?: string; readonly priority: number }>();
  #count = 0;
  #time = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    for (const name of ['a', 'b', 'c']) this.story.node(name, 4);
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  arrive(): void {
    const priority = priorities[this.#below(priorities.length)]!;
    const size = this.#below(3) === 0 ? 2 + this.#below(3) : 1;
    const group = size > 1 ? `g${this.#count}` : undefined;
    if (group !== undefined) {
      this.story.group(group, 1 + this.#below(size));
      this.#specs.set(group, { priority });
    }
    for (let i = 0; i < size; i++) this.#create({ priority, ...(group !== undefined && { group }) });
  }

  #create(spec: { readonly group?: string; readonly priority: number }): void {
    const name = `p${this.#count++}`;
    this.#specs.set(name, spec);
    this.story.pod(name, spec);
  }

  /** Time passes. Some of the pods that are being deleted end, and their owners replace them. */
  async pass(step: number): Promise<void> {
    const before = this.story.sent.length;
    await this.story.after(step);
    this.#time += step;
    for (const { name, deleting } of this.story.pods) {
      if (!deleting || this.#below(3) === 0) continue;
      this.story.remove(name);
      this.#create(this.#specs.get(name)!);
    }
    await this.story.run();
    const sent = this.story.sent.slice(before).filter((text) => text.startsWith('delete'));
    this.deletes.push(...sent.map(() => this.#time));
  }

  priorityOf(name: string): number {
    return this.#specs.get(name)!.priority;
  }
}

it('PE43 - evictions end once no pods arrive, each is for a higher priority, and the metrics count them', async () => {
  let evictions = 0;
  for (let seed = 1; seed <= runs(20); seed++) {
    const arrivals = new Arrivals(seed);
    const { story, deletes } = arrivals;
    for (let time = 0; time < arrivalSeconds; time += 10) {
      if (time % 20 === 0) arrivals.arrive();
      await arrivals.pass(10);
    }
    for (let time = arrivalSeconds; time < seconds; time += 30) await arrivals.pass(30);
    evictions += deletes.length;
    // Each pod that replaces a victim may only evict still lower priorities, so no chain of evictions is longer than the list of priorities.
    for (const [victim, message] of story.beneficiaries) {
      const [, beneficiary = ''] = /\(default\/(\w+)\)/.exec(message)!;
      expect(arrivals.priorityOf(beneficiary)).toBeGreaterThan(arrivals.priorityOf(victim));
    }
    expect([seed, deletes.filter((at) => at > seconds / 2)]).toEqual([seed, []]);
    expect(story.core.harness.core.preemptions.inFlight).toBe(0);
    const outcomes = await story.metric('tutti_preemption_outcomes_total');
    const started = story.core.harness.events.filter((event) => event.startsWith('PreemptionStarted')).length;
    expect(outcomes.reduce((sum, { value }) => sum + value, 0)).toBe(started);
    const preempted = story.core.harness.events.filter((event) => /^Preempted p\d/.test(event)).length;
    expect(preempted).toBe(deletes.length);
  }
  expect(evictions).toBeGreaterThan(runs(150));
});
