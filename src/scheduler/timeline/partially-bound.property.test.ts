import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import type { TimelineState } from '../../api/timeline/timeline-state.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { transitionsOf } from '../testing/timeline-lines.ts';

const index = fc.nat(30);
const group = fc.constantFrom('red', 'blue');
const action = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('attempt' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('create' as const), group, cpu: fc.integer({ min: 1, max: 2 }) }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      index,
      // `unheard`: the Binding is carried out, and the response is an error, as after a read-back that was too early.
      answer: fc.constantFrom('accepted', 'accepted', 'seen first', 'rejected', 'unheard'),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('watch' as const), index }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('bind by hand' as const), index }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('terminate' as const), index }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), index }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('end' as const), index, phase: fc.constantFrom('Succeeded', 'Failed') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('minMember' as const), group, minMember: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete group' as const), group }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(100, 1_000, 20_000) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** A store of pods and groups, which the scheduler watches, and a plain account of which groups are partially bound. */
class Story {
  readonly core = new Scheduling({ plugins: defaultPlugins });
  /** name -> pod as the store has it and the watch has shown it */
  readonly #pods = new Map<string, Pod>();
  /** Names of pods of which the store has the Binding, and the watch has not shown it -> node */
  readonly #unseen = new Map<string, string>();
  /** name -> minMember */
  readonly #groups = new Map<string, number>();
  /** Names of groups that have started. */
  readonly #started = new Set<string>();
  #created = 0;

  constructor() {
    for (const name of ['a', 'b']) this.core.node({ name, cpu: 3 });
    for (const name of ['red', 'blue']) this.#setGroup(name, 3);
  }

  async play(step: Action): Promise<void> {
    const { core } = this;
    switch (step.kind) {
      case 'attempt':
        await core.attempt();
        break;
      case 'create': {
        const name = `${step.group}-${this.#created++}`;
        const pod = core.pod({ name, group: step.group, cpu: step.cpu, owner: 'job' });
        this.#pods.set(name, pod);
        break;
      }
      case 'answer':
        await this.#answer(step.index, step.answer);
        break;
      case 'watch': {
        const name = at([...this.#unseen.keys()], step.index);
        if (name !== undefined) this.#showBound(name);
        break;
      }
      case 'bind by hand':
        this.#change(step.index, (pod) =>
          pod.nodeName === '' && pod.phase === 'Pending' ? { nodeName: 'a' } : undefined,
        );
        break;
      case 'terminate':
        this.#change(step.index, (pod) => (pod.nodeName === '' ? undefined : { deleting: true }));
        break;
      case 'end':
        this.#change(step.index, (pod) => (pod.nodeName === '' ? undefined : { phase: step.phase as 'Failed' }));
        break;
      case 'delete': {
        const name = at([...this.#pods.keys()], step.index);
        if (name === undefined) break;
        this.#pods.delete(name);
        this.#unseen.delete(name);
        core.removePod(name);
        break;
      }
      case 'minMember':
        this.#setGroup(step.group, step.minMember);
        break;
      case 'delete group':
        if (!this.#groups.delete(step.group)) break;
        this.#started.delete(step.group);
        core.removeGroup(`default/${step.group}`);
        break;
      case 'wait':
        core.harness.clock.advance(step.ms);
        await core.settle();
        break;
    }
    this.#updateStarts();
  }

  /** The groups that never started and have from one to minMember - 1 members bound. */
  get partial(): string[] {
    return [...this.#groups].flatMap(([name, minMember]) => {
      const { bound } = this.#tally(name);
      return !this.#started.has(name) && bound > 0 && bound < minMember ? [name] : [];
    });
  }

  async #answer(index: number, answer: string): Promise<void> {
    const { core } = this;
    const bind = at(core.binds, index);
    if (bind === undefined) return;
    const { name, nodeName, uid } = bind.binding;
    const pod = this.#pods.get(name);
    // The store rejects a Binding for a pod that is gone or bound.
    const isPossible = pod?.uid === uid && pod.nodeName === '' && !this.#unseen.has(name);
    if (!isPossible || answer === 'rejected') {
      await core.reject(name, 'rejected');
      return;
    }
    this.#unseen.set(name, nodeName);
    if (answer === 'seen first') {
      this.#showBound(name);
      this.#updateStarts();
    }
    if (answer === 'unheard') await core.reject(name, 'unheard');
    else await core.accept(name);
  }

  #showBound(name: string): void {
    const nodeName = this.#unseen.get(name)!;
    this.#unseen.delete(name);
    const group = this.#pods.get(name)!.podGroupKey!.split('/')[1]!;
    this.#set(this.core.change(name, { nodeName, plannedGroupUid: group }));
  }

  #change(index: number, change: (pod: Pod) => Partial<Pod> | undefined): void {
    const name = at([...this.#pods.keys()], index);
    if (name === undefined || this.#unseen.has(name)) return;
    const changes = change(this.#pods.get(name)!);
    if (changes !== undefined) this.#set(this.core.change(name, changes));
  }

  #set(pod: Pod): void {
    this.#pods.set(pod.name, pod);
  }

  #setGroup(name: string, minMember: number): void {
    this.#groups.set(name, minMember);
    this.core.group({ name, minMember, uid: name });
  }

  #tally(name: string): { readonly bound: number; readonly succeeded: number } {
    const members = [...this.#pods.values()].filter(({ podGroupKey }) => podGroupKey === `default/${name}`);
    const live = members.filter(
      ({ nodeName, phase }) => nodeName !== '' && phase !== 'Failed' && phase !== 'Succeeded',
    );
    const succeeded = members.filter(({ phase, deleting }) => phase === 'Succeeded' && !deleting);
    return { bound: live.filter(({ deleting }) => !deleting).length, succeeded: succeeded.length };
  }

  #updateStarts(): void {
    for (const [name, minMember] of this.#groups) {
      const { bound, succeeded } = this.#tally(name);
      if (bound + succeeded === 0) this.#started.delete(name);
      else if (bound + succeeded >= minMember) this.#started.add(name);
    }
  }
}

function at<T>(items: readonly T[], index: number): T | undefined {
  return items[index % items.length];
}

it('a group is shown as partially bound exactly while the store has from one to minMember - 1 members of it bound and it never started', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 120, size: 'max' }), async (steps) => {
      const story = new Story();
      /** group -> number of transitions seen so far */
      const seen = new Map<string, number>();
      let before: readonly string[] = [];
      for (const step of steps) {
        await story.play(step);
        const { partial } = story;
        for (const name of ['red', 'blue']) {
          const transitions = transitionsOf(story.core, `gang/default/${name}`);
          const isPartial = (state: TimelineState | undefined): boolean => state === 'Partial';
          expect(isPartial(transitions.at(-1)?.state), `${name} after ${step.kind}`).toBe(partial.includes(name));
          // In between, it was shown neither partially bound nor otherwise for a moment, if the store did not change that.
          const between = transitions.slice(seen.get(name) ?? 0).map(({ state }) => isPartial(state));
          if (before.includes(name) === partial.includes(name))
            expect(between.every((each) => each === partial.includes(name))).toBe(true);
          seen.set(name, transitions.length);
        }
        before = partial;
      }
    }),
    { numRuns: 400 },
  );
});
