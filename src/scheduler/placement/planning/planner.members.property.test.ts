import { expect, it } from 'vitest';
import { seededRandom } from '../../../base/random.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { skip, Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { Picture } from '../../../testkit/picture.ts';

/** A plugin that answers PreFilter by chance and by what has landed so far, and reserves until it is told otherwise. */
function moody(
  random: () => number,
  how: { signs: boolean; keepsUp: boolean; reads: boolean },
  reserved: Map<string, string>,
): Plugin {
  return {
    name: 'Moody',
    readsOtherNodes: how.reads,
    ...(how.signs && { sign: () => '' }),
    preFilter: () => {
      const chance = random();
      if (chance < 0.15) return new Status('Unschedulable', 'not now');
      if (chance < 0.25) return skip;
      if (chance < 0.35) return { nodeNames: new Set(['n0', 'n1']) };
      return undefined;
    },
    filter: () => (random() < 0.1 ? new Status('Unschedulable', 'not here') : undefined),
    reserve: (_state, pod, node) => {
      if (random() < 0.1) return new Status('Unschedulable', 'taken');
      if (reserved.has(pod.uid)) throw new Error('reserved twice');
      reserved.set(pod.uid, node.name);
      return undefined;
    },
    unreserve: (_state, pod) => void reserved.delete(pod.uid),
    ...(how.keepsUp && { preFilterAddPod: () => undefined, preFilterRemovePod: () => undefined }),
  };
}

it('places each member at most once, no more than are needed, and the picture and what is reserved equal the plan', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = seededRandom(seed);
    const reserved = new Map<string, string>();
    const how = { signs: random() < 0.7, keepsUp: random() < 0.5, reads: random() < 0.7 };
    const picture = new Picture({ plugins: defaultPlugins, extra: [moody(random, how, reserved)], seed });
    for (let i = 0; i < 4; i++) picture.node({ name: `n${i}`, cpu: 1 + Math.floor(random() * 4) });
    const needed = 1 + Math.floor(random() * 8);
    picture.group({ name: 'red', minMember: needed });
    const members = Array.from({ length: needed + Math.floor(random() * 3) }, (_, i) =>
      picture.pod({ name: `red-${i}`, group: 'red', cpu: 1 + (i % 3) * 0.5 }),
    );
    const before = picture.rooms();
    const limit = random() < 0.3 ? random() * 600 : Infinity;
    let spent = 0;
    const spend = (steps: number): void => {
      spent += steps;
      if (spent > limit) throw new Error('too much');
    };
    const transaction = picture.cluster.begin();
    try {
      const plan = picture.planner.plan(
        { profile: picture.profile, members, needed, groupState: undefined, spend },
        transaction,
      );
      const { placements } = plan;
      const placed = placements.map(({ pod, nodeName }) => [pod.uid, nodeName]);
      expect(new Set(placed.map(([uid]) => uid)).size).toBe(placed.length);
      expect(placed.length).toBeLessThanOrEqual(needed);
      expect(plan.blocked === undefined).toBe(placed.length === needed);
      expect(Object.fromEntries(reserved)).toEqual(Object.fromEntries(placed));
      for (const { uid } of members) {
        const at = placed.find(([other]) => other === uid)?.[1];
        expect(picture.cluster.nodes.filter(({ pods }) => pods.has(uid)).map(({ name }) => name)).toEqual(
          at === undefined ? [] : [at],
        );
      }
      for (const node of picture.cluster.nodes) expect(node.free(0)).toBeGreaterThanOrEqual(0);
      picture.planner.unreserve(picture.profile, placements);
    } catch (error) {
      if ((error as Error).message !== 'too much') throw error;
    }
    expect(reserved.size).toBe(0);
    transaction.rollback();
    expect(picture.rooms()).toEqual(before);
  }
});
