import { expect, it } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { runs } from '../../base/testing/runs.ts';
import {
  ConflictError,
  ForbiddenError,
  ServerError,
  TimeoutError,
  TooManyRequestsError,
} from '../../client/api-errors.ts';
import type { Pod } from '../../api/pod.ts';
import { PreemptionStory } from '../testing/preemption-story.ts';
import type { ChooseVictims } from '../testing/preemption-story.ts';

const groups = ['blue', 'green'] as const;
const answer = { reason: '', request: '', causes: [] };
/** What the last try of a request may answer. */
const errors = [
  () => new ServerError('try later', { status: 500, ...answer }),
  () => new ForbiddenError('no', { status: 403, ...answer }),
  () => new ConflictError('modified', { status: 409, ...answer }),
  () => new TooManyRequestsError('slower', { status: 429, ...answer }),
  () => new TimeoutError('no response', { ambiguous: true }),
];
const minMember = 2;

/** A random history of preemptions, with refusals, held requests, crashes and changes of both sides. */
class Story {
  readonly story: PreemptionStory;
  readonly #random: () => number;
  #names = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    const choose: ChooseVictims = (schedulingEntity, bound) => {
      const pods =
        schedulingEntity.kind === 'pod' ? [schedulingEntity.pod] : [...schedulingEntity.gang.pending.values()];
      const lowest = Math.min(...pods.map(({ priority }) => priority));
      const { preemptions } = this.story.core.harness.core;
      const lower = bound.filter((pod) => pod.priority < lowest && !preemptions.isStuck(pod));
      return this.#below(3) === 0 ? lower : lower.filter(() => this.#below(3) > 0);
    };
    this.story = new PreemptionStory(seed % 2 === 0 ? 'DefaultPreemption' : choose);
    for (const name of ['a', 'b', 'c']) this.story.node(name, 3);
    for (const group of groups) {
      this.story.group(group, minMember);
      for (let i = 0; i < 2 + this.#below(3); i++) this.#member(group, 0);
    }
    this.story.group('high', 3);
    for (let i = 0; i < 3; i++) this.story.pod(`high-${i}`, { group: 'high', priority: 100 });
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #member(group: string, priority: number): void {
    this.story.pod(`${group}-${this.#names++}`, { group, priority });
  }

  #anyPod(is: (pod: Pod) => boolean): Pod | undefined {
    const pods = this.story.pods.filter(is);
    return pods[this.#below(pods.length)];
  }

  async step(): Promise<void> {
    const { story } = this;
    switch (this.#below(12)) {
      case 0: {
        const share = this.#random() / 2;
        story.fails = () => (this.#random() < share ? errors[this.#below(errors.length)]!() : undefined);
        story.loses = () => this.#below(3) === 0;
        break;
      }
      case 1:
        story.holds = (verb) => verb === 'delete' && this.#below(2) === 0;
        break;
      case 2:
        await story.release();
        break;
      case 3:
      case 4: {
        const leaving = this.#anyPod(({ deleting }) => deleting);
        if (leaving !== undefined) story.remove(leaving.name);
        break;
      }
      case 5:
        story.pod(`urgent-${this.#names++}`, { priority: 1000, cpu: 1 + this.#below(2) });
        break;
      case 6: {
        const gone = this.#anyPod(({ priority }) => priority >= 100);
        if (gone !== undefined) story.remove(gone.name);
        break;
      }
      case 7:
        for (const group of groups) {
          if (story.pods.filter(({ podGroupKey }) => podGroupKey === `default/${group}`).length < 4)
            this.#member(group, 0);
        }
        break;
      case 8: {
        const calls = this.#below(8);
        let left = calls;
        story.lives = () => left-- > 0;
        await story.run();
        story.takeOver();
        await story.core.settle();
        break;
      }
      case 9:
        await story.after(30 + this.#below(90));
        break;
      default:
        await story.after(1);
    }
    await story.run();
    this.#expectNoNodeOverCommitted();
  }

  #expectNoNodeOverCommitted(): void {
    for (const node of ['a', 'b', 'c']) {
      const there = this.story.pods.filter(({ nodeName }) => nodeName === node);
      const cpu = there.reduce((sum, { template }) => sum + template.nonZeroMilliCpu, 0);
      expect(cpu, `millicores requested on ${node}`).toBeLessThanOrEqual(3_000);
    }
  }

  /** Faults end, victims terminate, and everything comes to rest. */
  async rest(): Promise<void> {
    const { story } = this;
    story.fails = () => undefined;
    await story.release();
    for (let i = 0; i < 40; i++) {
      await story.after(i < 20 ? 2 : 120);
      story.terminateAll();
    }
  }

  expectAtRest(): void {
    const { story } = this;
    for (const group of groups) {
      const live = Object.keys(story.bound).filter((name) => name.startsWith(`${group}-`)).length;
      expect(live === 0 || live >= minMember, `${group} has ${live} members`).toBe(true);
    }
    const { cluster } = story.core.harness;
    for (const { name, uid, nodeName, nominatedNodeName, deleting, preemptionMark } of story.pods) {
      if (nodeName === '')
        expect([name, nominatedNodeName]).toEqual([name, cluster.reservationOf(uid)?.nodeName ?? '']);
      if (preemptionMark !== undefined && !deleting)
        expect([name, story.core.harness.core.preemptions.inFlight > 0]).toEqual([name, true]);
    }
  }
}

it('whatever happens, no group is left in part, no mark without a delete, and no nomination without a reservation', async () => {
  for (let seed = 1; seed <= runs(150); seed++) {
    const random = new Story(seed);
    try {
      for (let i = 0; i < 25; i++) await random.step();
      await random.rest();
      random.expectAtRest();
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});
