import { beforeEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { EventToRecord } from '../../client/event-recorder.ts';
import type { Gang } from '../../cluster/gang.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { LogLines } from '../../../test/scenarios/log-lines.ts';
import { CoreHarness } from '../../testkit/core-harness.ts';
import { groupNotScheduled, groupScheduled, notScheduled, preempted, scheduled } from './events.ts';

const noCapacity: Verdict = {
  reason: 'Unschedulable',
  message: 'PodGroup default/red: insufficient cpu.',
  waitsFor: 'capacity',
};

let harness: CoreHarness;
let pod: Pod;
let gang: Gang;

beforeEach(() => {
  harness = new CoreHarness({ plugins: defaultPlugins });
  gang = harness.group({ name: 'red', uid: 'red-uid', minMember: 2 });
  pod = harness.pod({ name: 'red-0', uid: 'pod-uid', group: 'red', schedulerName: 'gangs' });
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
  it('on a group use the schedulerName of the given member, even if other schedulers bound the others', () => {
    harness.cluster.removePod(pod.uid);
    harness.pod({ name: 'foreign', group: 'red', schedulerName: 'other', nodeName: 'a' });
    harness.cluster.setPod(pod);
    expect(groupNotScheduled(gang, pod, noCapacity)?.reportingController).toBe('gangs');
    expect(groupScheduled(gang, [pod], 1)?.reportingController).toBe('gangs');
  });

  it('on a pod use the words of kube-scheduler and the schedulerName of the pod', () => {
    expect(scheduled(pod, 'node-1')).toEqual({
      ...aboutPod,
      type: 'Normal',
      reason: 'Scheduled',
      action: 'Binding',
      note: 'Successfully assigned default/red-0 to node-1',
    });
    const failed = { type: 'Warning', action: 'Scheduling' } as const;
    expect(notScheduled(pod, noCapacity)).toEqual({
      ...aboutPod,
      ...failed,
      reason: 'FailedScheduling',
      note: noCapacity.message,
    });
    expect(notScheduled(pod, { ...noCapacity, reason: 'SchedulerError' }).reason).toBe('FailedScheduling');
    expect(notScheduled(pod, { ...noCapacity, reason: 'WaitingForGang' }).reason).toBe('WaitingForGang');
    expect(notScheduled(pod, { ...noCapacity, reason: 'WaitingForTurn' }).reason).toBe('WaitingForTurn');
    expect(preempted({ ...pod, nodeName: 'a' }, 'Preempted by default/blue on node a')).toMatchObject({
      type: 'Normal',
      reason: 'Preempted',
      action: 'Preempting',
      note: 'Preempted by default/blue on node a',
    });
  });

  it('on a group carry the same note', () => {
    expect(groupNotScheduled(gang, pod, noCapacity)).toEqual({
      ...aboutGroup,
      type: 'Warning',
      reason: 'FailedScheduling',
      action: 'Scheduling',
      note: noCapacity.message,
    });
    expect(groupScheduled(gang, [pod, pod], 1)).toEqual({
      ...aboutGroup,
      type: 'Normal',
      reason: 'Scheduled',
      action: 'Binding',
      note: 'Successfully assigned 2 members to 1 node',
    });
  });

  it('are not built for a group without a PodGroup object', () => {
    harness.pod({ name: 'lost', group: 'absent' });
    const absent = harness.cluster.gang('default/absent')!;
    expect([groupNotScheduled(absent, pod, noCapacity), groupScheduled(absent, [pod], 1)]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe('decisions', () => {
  /** A core with a gang of two and capacity for one member, its Events and its log. */
  function stuckGang(): { readonly core: CoreHarness; readonly events: EventToRecord[]; readonly logs: LogLines } {
    const events: EventToRecord[] = [];
    const logs = new LogLines();
    const core = new CoreHarness({
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

  it('leave one log line at info and one Event on the group, only when the outcome is new', async () => {
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
    expect(logs.lines.findLast(({ message }) => message === 'scheduled')!.fields).toMatchObject({
      pods: 2,
      nodes: 2,
      strategy: 'HardestFirst',
    });
    expect(ofGroup().at(-1)).toEqual(['Scheduled', 'Successfully assigned 2 members to 2 nodes']);
    const ofMembers = logs.lines.filter(({ level, message }) => level === 'debug' && message === 'bound');
    expect(ofMembers.map(({ fields }) => [fields.pod, fields.entity])).toEqual([
      ['default/red-0', 'gang/default/red'],
      ['default/red-1', 'gang/default/red'],
    ]);
  });
});
