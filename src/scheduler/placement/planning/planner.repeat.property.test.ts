import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import { Pace } from '../../../base/pace.ts';
import { seededRandom } from '../../../base/random.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import { describeDiagnosis } from '../../../framework/diagnosis.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { Picture } from '../../../testkit/picture.ts';
import type { Plan } from './planner.ts';
import { trial } from '../testing/planning.ts';
import { sceneOf } from '../testing/scenes.ts';
import type { Scene } from '../testing/scenes.ts';

type Way = (scene: Scene, members: readonly Pod[], needed: number) => Plan;

const inOneGo: Way = ({ picture }, members, needed) => {
  const transaction = picture.cluster.begin();
  const request = { profile: picture.profile, members, needed, groupState: new CycleState() };
  const plan = picture.planner.plan(request, transaction);
  picture.planner.unreserve(picture.profile, plan.placements);
  transaction.rollback();
  return plan;
};

/** In steps of that much work each. */
const inSteps =
  (work: number): Way =>
  ({ picture }, members, needed) => {
    const transaction = picture.cluster.begin();
    const request = { profile: picture.profile, members, needed, groupState: new CycleState() };
    const pace = new Pace();
    const open = picture.planner.steps(request, transaction, pace);
    let plan: Plan | undefined;
    for (let steps = 0; plan === undefined; steps++) {
      expect(steps).toBeLessThan(10_000);
      pace.allow(work);
      plan = open.next().value;
      // Whoever looks meanwhile sees nothing of it.
      transaction.suspend();
      transaction.resume();
    }
    picture.planner.unreserve(picture.profile, plan.placements);
    transaction.rollback();
    return plan;
  };

/** All that a plan says, in words that do not depend on whose members they are. */
function said(plan: Plan, members: readonly Pod[]): unknown {
  const { placements, placed, blocked, refusedBy, never, isExhaustive } = plan;
  return {
    placements: placements.map(({ pod, nodeName }) => `${members.indexOf(pod)} on ${nodeName}`),
    placed,
    blocked: blocked && `${members.indexOf(blocked.pod)}: ${describeDiagnosis(blocked)}`,
    refusedBy: [...refusedBy].sort(),
    never,
    isExhaustive,
  };
}

describe('the same question about the same picture', () => {
  it('has the same answer, word for word, however often it is asked, by whichever equal gang, whatever was asked between', () => {
    let refused = 0;
    for (let seed = 1; seed <= 500; seed++) {
      const scene = sceneOf(seed);
      const { members, twin, needed } = scene;
      const first = said(inOneGo(scene, members, needed), members);
      if ((first as { blocked?: string }).blocked !== undefined) refused++;
      // Others, of which some use the same tables, and some give them up.
      const random = seededRandom(seed);
      for (let i = 0; i < 5; i++) {
        const some = [...members, ...twin].filter(() => random() < 0.5);
        inOneGo(scene, some, Math.ceil(some.length * random()));
      }
      expect(said(inOneGo(scene, members, needed), members), `seed ${seed}`).toEqual(first);
      expect(said(inOneGo(scene, twin, needed), twin), `the twin, seed ${seed}`).toEqual(first);
    }
    expect(refused).toBeGreaterThan(100);
  });

  it('has the same answer when it is found out in steps', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const scene = sceneOf(seed);
      const { members, needed } = scene;
      const expected = said(inOneGo(scene, members, needed), members);
      for (const work of [0, 1, 50, 500]) {
        expect(said(inSteps(work)(scene, members, needed), members), `seed ${seed}, steps of ${work}`).toEqual(
          expected,
        );
      }
    }
  });
});

describe('a plan that is made in steps', () => {
  it('takes more of them the less each does, and can be given up after any, with nothing left reserved or assumed', () => {
    let steps = 0;
    for (let seed = 1; seed <= 200; seed++) {
      const { picture, members, needed } = sceneOf(seed);
      const before = picture.rooms();
      const transaction = picture.cluster.begin();
      let spent = 0;
      const spend = (work: number): void => void (spent += work);
      const request = { profile: picture.profile, members, needed, groupState: new CycleState(), spend };
      const pace = new Pace();
      const open = picture.planner.steps(request, transaction, pace);
      let plan: Plan | undefined;
      for (let i = seed % 7; i > 0 && plan === undefined; i--) {
        spent = 0;
        pace.allow(0);
        plan = open.next().value;
        steps++;
        // Eight kinds are counted together; a member costs a look at all nodes, and forty besides.
        expect(spent).toBeLessThanOrEqual(40 + 8 * picture.cluster.nodes.length);
      }
      open.return(undefined as never);
      if (plan !== undefined) picture.planner.unreserve(picture.profile, plan.placements);
      transaction.rollback();
      expect(picture.rooms()).toEqual(before);
      expect(open.next()).toEqual({ done: true, value: undefined });
    }
    expect(steps).toBeGreaterThan(300);
  });
});

describe('equal nodes', () => {
  const nodeOf = (cpu: string, seed: number): string => {
    const picture = new Picture({ plugins: defaultPlugins, seed });
    for (let i = 0; i < 10; i++) picture.node({ name: `n${i}`, cpu: 64 });
    const [pod] = picture.pods(1, { cpu });
    return trial(picture, [pod!]).placements[0]!.nodeName;
  };
  const sizes = Array.from({ length: 20 }, (_, i) => `${100 + i}m`);

  it('are taken in another order by pods of another signature, and by another scheduler', () => {
    expect(new Set(sizes.map((cpu) => nodeOf(cpu, 1))).size).toBeGreaterThan(5);
    expect(new Set(sizes.map((_, seed) => nodeOf('1', seed))).size).toBeGreaterThan(5);
  });

  it('are taken in the same order by the same scheduler, in whatever order it came to know them', () => {
    const namesOf = (nodes: readonly string[]): string[] => {
      const picture = new Picture({ plugins: defaultPlugins, seed: 7 });
      for (const name of nodes) picture.node({ name, cpu: 1 });
      const pods = picture.pods(nodes.length, { cpu: 1 });
      return trial(picture, pods).placements.map(({ nodeName }) => nodeName);
    };
    const names = Array.from({ length: 12 }, (_, i) => `n${i}`);
    expect(namesOf(names.toReversed())).toEqual(namesOf(names));
    expect(namesOf(names)).not.toEqual(names);
  });
});
