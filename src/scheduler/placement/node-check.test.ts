import { describe, expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { skip, Status } from '../../framework/status.ts';
import type { Picture } from '../../testkit/picture.ts';
import { NodeCheck } from './node-check.ts';
import type { Placement } from './planner.ts';
import { openOneANode } from './testing/one-a-node.ts';
import { pictureWith } from './testing/planning.ts';

describe('the check of a placement', () => {
  /** Plans and assumes the members, and answers their placements. */
  function placed(picture: Picture, members: readonly Pod[]): readonly Placement[] {
    const transaction = picture.cluster.begin();
    const { placements } = picture.planner.plan(
      { profile: picture.profile, members, needed: members.length, groupState: new CycleState() },
      transaction,
    );
    transaction.commit();
    return placements;
  }

  function check(picture: Picture, placement: Placement): string | undefined {
    const before = picture.rooms();
    const status = new NodeCheck(picture.cluster).stillFits(picture.profile, placement);
    expect(picture.rooms()).toEqual(before);
    return status?.message;
  }

  it('leaves its own room aside, but not that of its siblings', () => {
    const picture = pictureWith();
    picture.node({ name: 'a', cpu: 2 });
    const placements = placed(picture, picture.pods(2, { name: 'w', cpu: 1 }));
    expect(placements.map((placement) => check(picture, placement))).toEqual([undefined, undefined]);
    picture.pod({ name: 'late', cpu: 1, nodeName: 'a' });
    expect(placements.map((placement) => check(picture, placement))).toEqual(['Insufficient cpu', 'Insufficient cpu']);
  });

  it('sees what has become of the node', () => {
    const picture = pictureWith();
    picture.node({ name: 'a', cpu: 2 });
    const [placement] = placed(picture, picture.pods(1, { name: 'w', cpu: 1 }));
    picture.node({ name: 'a', cpu: 2, unschedulable: true });
    expect(check(picture, placement!)).toBe('node(s) were unschedulable');
    picture.node({ name: 'a', cpu: 2, taints: ['only=others:NoSchedule'] });
    expect(check(picture, placement!)).toMatch(/untolerated taint/);
    picture.cluster.removeNode('a');
    expect(new NodeCheck(picture.cluster).stillFits(picture.profile, placement!)?.message).toBe('node a is gone');
  });

  it('refuses a pod that is no longer assumed', () => {
    const picture = pictureWith();
    picture.node({ name: 'a', cpu: 2 });
    const [pod] = picture.pods(1, { name: 'w', cpu: 1 });
    const [placement] = placed(picture, [pod!]);
    picture.cluster.setPod({ ...pod!, nodeName: 'b' });
    expect(check(picture, placement!)).toBe('pod default/w-0 was deleted or bound elsewhere');
  });

  it('leaves it aside, too, in what a plugin that reads other nodes was told of along the plan', () => {
    const { picture } = openOneANode();
    const members = picture.pods(3, { name: 'w', cpu: 1, labels: { app: 'w' } });
    const placements = placed(picture, members);
    expect(placements.map((placement) => check(picture, placement))).toEqual([undefined, undefined, undefined]);
  });

  it('asks the plugins that read other nodes as well, but not those that skipped the pod', () => {
    let isShut = false;
    const shut = new Status('Unschedulable', 'shut');
    const gate = (name: string, more: Partial<Plugin>): Plugin => ({
      name,
      readsOtherNodes: true,
      filter: () => (isShut ? shut : undefined),
      ...more,
    });
    const picture = pictureWith(gate('Skipping', { preFilter: () => skip }));
    const other = pictureWith(gate('Judging', {}));
    const answers = [picture, other].map((each) => {
      isShut = false;
      each.node({ name: 'a', cpu: 2 });
      const [placement] = placed(each, each.pods(1, { name: 'w', cpu: 1 }));
      isShut = true;
      return check(each, placement!);
    });
    expect(answers).toEqual([undefined, 'shut']);
  });

  it('names a plugin that throws, and leaves the node as it was', () => {
    let isBroken = false;
    const picture = pictureWith({
      name: 'Broken',
      sign: () => '',
      filter: () => {
        if (isBroken) throw new Error('a bug');
        return undefined;
      },
    });
    picture.node({ name: 'a', cpu: 2 });
    const [placement] = placed(picture, picture.pods(1, { name: 'w', cpu: 1 }));
    isBroken = true;
    expect(check(picture, placement!)).toBe('Broken failed in Filter: a bug');
  });
});
