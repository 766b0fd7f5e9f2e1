import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import { mustRespect } from '../../../cluster/claim.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import { notPreselected } from '../../../framework/profile.ts';
import type { Status } from '../../../framework/status.ts';
import { sceneOf } from '../testing/scenes.ts';
import type { Scene } from '../testing/scenes.ts';

/** Works everything out from nothing, one pod and one node at a time: no signatures, no tables, no shares. */
class Reference {
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** Why the node refuses the pod as things are. */
  refusal(pod: Pod, node: NodeInfo): Status | undefined {
    const { profile } = this.#scene.picture;
    const state = new CycleState(new CycleState());
    const answer = profile.preFilter(state, pod);
    if (answer.status !== undefined) return answer.status;
    const filter = (): Status | undefined => profile.filter(profile.localFilters, state, pod, node);
    const alone = filter();
    if (alone !== undefined) return alone;
    const claimants = [...node.claims.values()].filter((claim) => mustRespect(pod, claim));
    for (const { claimant } of claimants) node.addPod(claimant);
    const beside = filter();
    for (const { claimant } of claimants.toReversed()) node.removePod(claimant);
    return beside ?? (answer.nodeNames?.has(node.name) === false ? notPreselected : undefined);
  }

  feasible(pod: Pod): NodeInfo[] {
    return this.#scene.picture.cluster.nodes.filter((node) => this.refusal(pod, node) === undefined);
  }

  totals(pod: Pod): Map<string, number> {
    const { profile } = this.#scene.picture;
    const nodes = this.feasible(pod);
    const state = new CycleState(new CycleState());
    profile.preFilter(state, pod);
    const sums = new Map(nodes.map(({ name }) => [name, 0]));
    if (nodes.length === 0) return sums;
    for (const { plugin, weight } of profile.scorers) {
      if (plugin.preScore?.(state, pod, () => nodes)?.code === 'Skip') continue;
      const scores = Float64Array.from(nodes, (node) => plugin.score!(state, pod, node));
      plugin.normalizeScore?.(state, pod, scores);
      nodes.forEach(({ name }, i) => sums.set(name, sums.get(name)! + weight * scores[i]!));
    }
    return sums;
  }

  /** reason -> number of nodes */
  reasons(pod: Pod): Map<string, number> {
    const reasons = new Map<string, number>();
    for (const node of this.#scene.picture.cluster.nodes) {
      for (const reason of this.refusal(pod, node)?.reasons ?? []) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    return reasons;
  }
}

describe('a plan with plugins that look at one node at a time', () => {
  it('is what asking every plugin about every pod and node comes to', () => {
    let [complete, incomplete, turned] = [0, 0, 0];
    for (let seed = 1; seed <= 900; seed++) {
      const scene = sceneOf(seed);
      if (!scene.isPlain) continue;
      const { picture, members, needed } = scene;
      const reference = new Reference(scene);
      const hardness = new Map(members.map((pod) => [pod, reference.feasible(pod).length]));
      const transaction = picture.cluster.begin();
      const groupState = new CycleState();
      const plan = picture.planner.plan({ profile: picture.profile, members, needed, groupState }, transaction);
      transaction.rollback();
      /** Negative: the first is harder to place. */
      const compare = (a: Pod, b: Pod): number =>
        hardness.get(a)! - hardness.get(b)! || b.template.nonZeroMilliCpu - a.template.nonZeroMilliCpu;
      const order = plan.placements.map(({ pod }) => pod);
      const isHardestFirst = order.every((pod, i) => i === 0 || compare(order[i - 1]!, pod) <= 0);
      const isEasiestFirst = order.every((pod, i) => i === 0 || compare(order[i - 1]!, pod) >= 0);
      const again = picture.cluster.begin();
      for (const { pod, nodeName } of plan.placements) {
        const totals = reference.totals(pod);
        expect([...totals.keys()], `${pod.name}, seed ${seed}`).toContain(nodeName);
        expect(totals.get(nodeName), `${pod.name}, seed ${seed}`).toBeCloseTo(Math.max(...totals.values()), 6);
        again.assume(pod, picture.cluster.node(nodeName)!);
      }
      const left = members.filter(({ uid }) => !picture.cluster.isAssumed(uid));
      if (plan.placements.length === needed) {
        complete++;
        if (!isHardestFirst) turned++;
        expect(isHardestFirst || (isEasiestFirst && needed < members.length), `seed ${seed}`).toBe(true);
      } else {
        incomplete++;
        const { blocked } = plan;
        const wasTurned = plan.placed > 0 && needed < members.length;
        if (!wasTurned) {
          expect(isHardestFirst, `seed ${seed}`).toBe(true);
          expect(plan.placed).toBe(plan.placements.length);
          expect(left).toContain(blocked!.pod);
          const { refusal } = blocked!;
          if (refusal.kind === 'nodes') {
            expect(refusal.reasons, `${blocked!.pod.name}, seed ${seed}`).toEqual(reference.reasons(blocked!.pod));
          }
        }
        const possible = left.filter((pod) => reference.feasible(pod).length > 0);
        expect(plan.placements.length + possible.length, `seed ${seed}`).toBeLessThan(needed);
      }
      again.rollback();
    }
    expect(Math.min(complete, incomplete)).toBeGreaterThan(100);
    expect(turned).toBeGreaterThan(0);
  });
});
