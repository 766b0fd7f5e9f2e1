import { beforeEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { EventToRecord } from '../../client/event-recorder.ts';
import type { Gang } from '../../cluster/gang.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { LogLines } from '../../../test/scenarios/log-lines.ts';
import { Picture } from '../../testkit/picture.ts';
import { groupNotScheduled, groupScheduled, notScheduled, preempted, scheduled } from './events.ts';

const noRoom: Verdict = { reason: 'Unschedulable', message: 'PodGroup default/red: no room.', waitsFor: 'capacity' };

let picture: Picture;
let pod: Pod;
let gang: Gang;

beforeEach(() => {
  picture = new Picture({ plugins: defaultPlugins });
  gang = picture.group({ name: 'red', uid: 'red-uid', minMember: 2 });
  pod = picture.pod({ name: 'red-0', uid: 'pod-uid', group: 'red', schedulerName: 'gangs' });
});

const aboutPod = {
  regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'red-0', uid: 'pod-uid' },
  reportingController: 'gangs',
};
const aboutGroup = {
  regarding: {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    namespace: 'default',
    name: 'red',
    uid: 'red-uid',
  },
  reportingController: 'gangs',
};

describe('Events', () => {
  it('about a group are in the name of the scheduler that decided, whoever bound its other members', () => {
    picture.cluster.removePod(pod.uid);
    picture.pod({ name: 'foreign', group: 'red', schedulerName: 'other', nodeName: 'a' });
    picture.cluster.setPod(pod);
    expect(groupNotScheduled(gang, pod, noRoom)?.reportingController).toBe('gangs');
    expect(groupScheduled(gang, [pod], 1)?.reportingController).toBe('gangs');
  });

  it('about a pod are in the words of kube-scheduler, and in the name of the scheduler that the pod names', () => {
    expect(scheduled(pod, 'node-1')).toEqual({
      ...aboutPod,
      type: 'Normal',
      reason: 'Scheduled',
      action: 'Binding',
      note: 'Successfully assigned default/red-0 to node-1',
    });
    const failed = { type: 'Warning', action: 'Scheduling' } as const;
    expect(notScheduled(pod, noRoom)).toEqual({
      ...aboutPod,
      ...failed,
      reason: 'FailedScheduling',
      note: noRoom.message,
    });
    expect(notScheduled(pod, { ...noRoom, reason: 'SchedulerError' }).reason).toBe('FailedScheduling');
    expect(notScheduled(pod, { ...noRoom, reason: 'WaitingForGang' }).reason).toBe('WaitingForGang');
    expect(preempted({ ...pod, nodeName: 'a' }, 'default/blue')).toMatchObject({
      type: 'Normal',
      reason: 'Preempted',
      action: 'Preempting',
      note: 'Preempted by default/blue on node a',
    });
  });

  it('about a group say the same of it', () => {
    expect(groupNotScheduled(gang, pod, noRoom)).toEqual({
      ...aboutGroup,
      type: 'Warning',
      reason: 'FailedScheduling',
      action: 'Scheduling',
      note: noRoom.message,
    });
    expect(groupScheduled(gang, [pod, pod], 1)).toEqual({
      ...aboutGroup,
      type: 'Normal',
      reason: 'Scheduled',
      action: 'Binding',
      note: 'Successfully assigned 2 members to 1 node',
    });
  });

  it('are not about a group that does not exist', () => {
    picture.pod({ name: 'lost', group: 'absent' });
    const absent = picture.cluster.gang('default/absent')!;
    expect([groupNotScheduled(absent, pod, noRoom), groupScheduled(absent, [pod], 1)]).toEqual([undefined, undefined]);
  });
});

describe('what a decision leaves', () => {
  /** A core whose gang of two has room for one, and what it says. */
  function stuckGang(): { readonly core: Picture; readonly events: EventToRecord[]; readonly logs: LogLines } {
    const events: EventToRecord[] = [];
    const logs = new LogLines();
    const core = new Picture({
      plugins: defaultPlugins,
      ports: { events: { record: (event) => void events.push(event) } },
      binder: { bind: () => Promise.resolve() },
      logger: logs,
    });
    core.node({ name: 'a', cpu: 1 });
    core.group({ name: 'red', minMember: 2 });
    core.pods(2, { name: 'red', group: 'red', cpu: 1 });
    core.core.begin();
    return { core, events, logs };
  }

  const decisions = ({ lines }: LogLines): unknown[] =>
    lines
      .filter(({ level }) => level === 'info')
      .map(({ message, fields }) => [message, fields.entity, fields.attempts]);

  it('is one line at info when it says something new, and one Event for the group', async () => {
    const { core, events, logs } = stuckGang();
    core.core.attempt();
    const ofGroup = (): unknown[] =>
      events.filter(({ regarding }) => regarding.kind === 'PodGroup').map(({ reason, note }) => [reason, note]);
    expect(decisions(logs)).toEqual([['unschedulable', 'gang/default/red', 1]]);
    expect(logs.lines.at(-1)!.fields).toMatchObject({ verdict: core.written[0]!.verdict.message });
    expect(ofGroup()).toEqual([['FailedScheduling', core.written[0]!.verdict.message]]);
    core.core.handlers.nodes.onAdd(core.build.projectedNode({ name: 'b', cpu: '500m' }));
    core.clock.advance(60_000);
    core.core.attempt();
    core.core.handlers.nodes.onAdd(core.build.projectedNode({ name: 'c', cpu: 1 }));
    core.clock.advance(60_000);
    core.core.attempt();
    await core.core.binding.idle();
    expect(decisions(logs).at(-1)).toEqual(['scheduled', 'gang/default/red', expect.any(Number)]);
    expect(ofGroup().at(-1)).toEqual(['Scheduled', 'Successfully assigned 2 members to 2 nodes']);
    const ofMembers = logs.lines.filter(({ level, message }) => level === 'debug' && message === 'bound');
    expect(ofMembers.map(({ fields }) => [fields.pod, fields.entity])).toEqual([
      ['default/red-0', 'gang/default/red'],
      ['default/red-1', 'gang/default/red'],
    ]);
  });
});
