import { describe, expect, it, vi } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { skip, Status } from '../../../framework/status.ts';
import type { Picture } from '../../../testkit/picture.ts';
import { NodeCheck } from './node-check.ts';
import type { Placement } from './planner.ts';
import { openOneANode } from '../testing/one-a-node.ts';
import { pictureWith } from '../testing/planning.ts';

describe('the check of a placement', () => {
  /** picture -> its generation when members were last placed */
  const plannedAt = new WeakMap<Picture, number>();

  /** Plans and assumes the members, and answers their placements. */
  function placed(picture: Picture, members: readonly Pod[]): readonly Placement[] {
    const transaction = picture.cluster.begin();
    const { placements } = picture.planner.plan(
      { profile: picture.profile, members, needed: members.length, groupState: new CycleState() },
      transaction,
    );
    transaction.commit();
    plannedAt.set(picture, picture.cluster.generation);
    return placements;
  }

  function check(picture: Picture, placement: Placement): string | undefined {
    const before = picture.rooms();
    const nodeCheck = new NodeCheck(picture.cluster);
    const status = nodeCheck.stillFits(picture.profile, placement);
    // To know since when makes no difference to the answer.
    expect(nodeCheck.stillFits(picture.profile, placement, plannedAt.get(picture))?.message).toBe(status?.message);
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

  it('asks no Filter about a node that has not changed since, however much others have', () => {
    const picture = pictureWith();
    for (const name of ['a', 'b']) picture.node({ name, cpu: 2 });
    const [placement] = placed(picture, picture.pods(1, { name: 'w', cpu: 1 }));
    const since = picture.cluster.generation;
    const isOther = placement!.nodeName === 'a' ? 'b' : 'a';
    picture.pod({ name: 'late', cpu: 2, nodeName: isOther });
    const filters = (): number =>
      [...picture.profile.calls()].filter(({ point }) => point === 'Filter').reduce((sum, { calls }) => sum + calls, 0);
    const before = filters();
    expect(new NodeCheck(picture.cluster).stillFits(picture.profile, placement!, since)).toBeUndefined();
    expect(filters()).toBe(before);
    picture.pod({ name: 'there', cpu: 2, nodeName: placement!.nodeName });
    expect(new NodeCheck(picture.cluster).stillFits(picture.profile, placement!, since)?.message).toBe(
      'Insufficient cpu',
    );
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

  it('sees who has come that it does not want near it, and whom it wants and who has gone', () => {
    const picture = pictureWith();
    for (const name of ['a', 'b']) picture.node({ name, cpu: 4, labels: { zone: 'z' } });
    picture.pod({ name: 'leader', cpu: 1, nodeName: 'a', labels: { app: 'leader' } });
    const term = (app: string): object => ({ topologyKey: 'zone', labelSelector: { matchLabels: { app } } });
    const [placement] = placed(
      picture,
      picture.pods(1, {
        name: 'w',
        cpu: 1,
        spec: {
          affinity: {
            podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term('leader') as never] },
            podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term('noisy') as never] },
          },
        },
      }),
    );
    expect(check(picture, placement!)).toBeUndefined();
    const noisy = picture.pod({ name: 'noisy', cpu: 1, nodeName: 'b', labels: { app: 'noisy' } });
    expect(check(picture, placement!)).toBe("node(s) didn't match pod anti-affinity rules");
    picture.cluster.removePod(noisy.uid);
    expect(check(picture, placement!)).toBeUndefined();
    picture.cluster.removePod([...picture.cluster.pods()].find(({ name }) => name === 'leader')!.uid);
    expect(check(picture, placement!)).toBe("node(s) didn't match pod affinity rules");
  });

  it('asks nothing about other nodes for a pod that has nothing to do with them, whatever others say of each other', () => {
    const picture = pictureWith();
    picture.node({ name: 'a', cpu: 9, labels: { zone: 'z' } });
    const apart = { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'loner' } } };
    const spread = { ...apart, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' } as const;
    picture.pod({
      cpu: 1,
      nodeName: 'a',
      labels: { app: 'loner' },
      spec: {
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
        topologySpreadConstraints: [spread],
      },
    });
    const placements = placed(picture, picture.pods(3, { name: 'w', cpu: 1, labels: { app: 'w' } }));
    const { placed: journal } = picture.cluster;
    const reads = [
      vi.spyOn(journal, 'changesSince'),
      vi.spyOn(journal, 'classes'),
      vi.spyOn(journal, 'version', 'get'),
    ];
    const before = [...picture.profile.calls()].map(({ calls }) => calls);
    expect(placements.map((placement) => check(picture, placement))).toEqual([undefined, undefined, undefined]);
    for (const read of reads) expect(read).not.toHaveBeenCalled();
    const asked = [...picture.profile.calls()].filter(({ calls }, i) => calls > before[i]!).map(({ plugin }) => plugin);
    expect(asked).toContain('NodeResourcesFit');
    expect(asked).not.toEqual(expect.arrayContaining(['InterPodAffinity']));
    expect(asked).not.toEqual(expect.arrayContaining(['PodTopologySpread']));
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
    picture.node({ name: 'a', cpu: 3 });
    expect(check(picture, placement!)).toBe('Broken failed in Filter: a bug');
  });
});
