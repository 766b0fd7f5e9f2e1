import { expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import { seededRandom } from '../../base/random.ts';
import { runs } from '../../base/testing/runs.ts';
import { PreemptionStory } from '../testing/preemption-story.ts';

const minMember = 4;
const key = 'default/low';

/** A gang that this scheduler and another one preempt, and whose owner re-creates members at once. */
class Story {
  readonly story = new PreemptionStory('DefaultPreemption');
  readonly #random: () => number;
  #names = 0;
  /** Number of members of the gang that were bound after the first ones. */
  replacements = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    const { story } = this;
    story.node('a', 4);
    story.node('b', 5);
    story.group('low', minMember);
    for (let i = 0; i < minMember; i++) this.#create(i < 2 ? 'a' : 'b');
    story.binding = (names) => this.#bind(names);
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #members(is: (pod: Pod) => boolean = () => true): Pod[] {
    return this.story.pods.filter((pod) => pod.podGroupKey === key && is(pod));
  }

  #create(nodeName?: string): void {
    this.story.pod(`low-${this.#names++}`, { group: 'low', ...(nodeName !== undefined && { nodeName }) });
  }

  /** Members are bound only if, with those that are to stay, they make up the quorum. */
  #bind(names: readonly string[]): readonly string[] {
    const planned = names.filter((name) => name.startsWith('low-'));
    if (planned.length === 0) return [];
    const staying = this.#members(
      ({ nodeName, deleting, preemptionMark }) => nodeName !== '' && !deleting && preemptionMark === undefined,
    );
    expect(staying.length + planned.length, planned.join()).toBeGreaterThanOrEqual(minMember);
    this.replacements += planned.length;
    return this.#below(5) === 0 ? planned.slice(this.#below(planned.length)) : [];
  }

  async step(): Promise<void> {
    const { story } = this;
    switch (this.#below(11)) {
      case 0:
        story.pod(`high-${this.#names++}`, { priority: 1000, cpu: 1 + this.#below(4) });
        break;
      case 1: {
        const high = story.pods.filter(({ priority }) => priority > 0);
        if (high.length > 0) story.remove(high[this.#below(high.length)]!.name);
        break;
      }
      case 2:
      case 3:
        for (let i = this.#members(({ deleting }) => !deleting).length; i < minMember + this.#below(2); i++)
          this.#create();
        break;
      case 4: {
        const preemptionMark = { schedulerName: 'other-scheduler', since: Date.UTC(2100, 0) };
        for (const { name } of this.#members(({ nodeName }) => nodeName !== ''))
          if (this.#below(5) > 0) story.change(name, { preemptionMark, disruptedBy: 'PreemptionByScheduler' });
        break;
      }
      case 5:
        for (const { name, preemptionMark } of this.#members())
          if (preemptionMark?.schedulerName === 'other-scheduler' && this.#below(2) === 0)
            story.change(name, { deleting: true });
        break;
      case 6:
        story.holds = (verb) => verb === 'delete' && this.#below(2) === 0;
        break;
      case 7:
        await story.release();
        break;
      case 8:
        for (const { name, deleting } of this.#members()) if (deleting && this.#below(2) === 0) story.remove(name);
        break;
      case 9: {
        let left = this.#below(8);
        story.lives = () => left-- > 0;
        await story.run();
        story.takeOver();
        await story.core.settle();
        break;
      }
      default:
        await story.after(1 + this.#below(3));
    }
    await story.run();
  }
}

it('I1: in any order of marks, deletes, crashes and replacements, no member is bound that relies on one that is about to go', async () => {
  let replacements = 0;
  for (let seed = 1; seed <= runs(400); seed++) {
    const random = new Story(seed);
    try {
      for (let i = 0; i < 40; i++) await random.step();
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
    replacements += random.replacements;
  }
  expect(replacements).toBeGreaterThan(runs(400));
});
