import { describe, expect, it } from 'vitest';
import type { Call } from '../world/call.ts';
import { WaitingChecker } from './waiting.ts';
import { calmEvidence, memberOf, WrittenRecord } from './written-record.ts';

interface Course {
  /** What happens after the verdict. Default: pod `late` is bound. */
  readonly afterVerdict?: readonly ('bound' | 'ended')[];
  /** `late` is bound before the verdict. */
  readonly isEarly?: boolean;
  readonly reason?: string;
}

/**
 * A group of a large and three small members waits for nodes `narrow`, which has a pod and takes one more, and `wide`. It fits only with the large member on
 * `narrow`. Once pod `late` uses part of `wide`, the large member fits nowhere else. Returns violations and excuses.
 */
function play({ afterVerdict = ['bound'], isEarly = false, reason = 'Unschedulable' }: Course = {}): readonly string[] {
  const store = new WrittenRecord();
  const found: string[] = [];
  const checker = new WaitingChecker(
    calmEvidence({
      record: store.record,
      now: () => 60_000,
      violated: (invariant) => found.push(invariant),
      excused: (why) => found.push(why),
    }),
    { schedulerNames: ['tutti'] },
  );
  // Without a term, the planner would find the arrangement.
  const inOneZone = {
    topologyKey: 'zone',
    labelSelector: { matchLabels: { 'scheduling.x-k8s.io/pod-group': 'g' } },
  };
  const sized = (pod: any, milliCpu: number): any => ({
    ...pod,
    spec: { ...pod.spec, containers: [{ resources: { requests: { cpu: `${milliCpu}m` } } }] },
  });
  for (const [name, pods] of [
    ['narrow', '2'],
    ['wide', '9'],
  ] as const) {
    const metadata = { name, labels: { zone: 'z' } };
    store.add('nodes', `/${name}`, { metadata, status: { allocatable: { cpu: '2', memory: '8Gi', pods } } });
  }
  store.add('podgroups.scheduling.x-k8s.io', 'default/g', {
    metadata: { name: 'g', uid: 'g' },
    spec: { minMember: 4 },
  });
  [1600, 400, 400, 400].forEach((milliCpu, i) => {
    const member: any = memberOf('g', { name: `g-${i}` });
    member.status.conditions[0].reason = reason;
    member.spec.affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [inOneZone] } };
    store.add('pods', `default/g-${i}`, sized(member, milliCpu));
  });
  store.add('pods', 'default/old', sized(memberOf('', { name: 'old', node: 'narrow' }), 0));
  const happens = {
    bound: () => void store.add('pods', 'default/late', sized(memberOf('', { name: 'late', node: 'wide' }), 500)),
    ended: () => void store.change('pods', 'default/late-too', { ...ended, status: { phase: 'Succeeded' } }),
  };
  const ended = sized(memberOf('', { name: 'late-too', node: 'wide' }), 0);
  store.add('pods', 'default/late-too', ended);
  if (isEarly) happens.bound();
  const { version } = store;
  checker.sent({
    process: { name: 'one', role: 'scheduler' },
    of: 'verdict',
    request: { method: 'PATCH', path: '/api/v1/namespaces/default/pods/g-0/status' },
    seen: { pods: version, nodes: version, podgroups: version },
  } as unknown as Call);
  for (const each of isEarly ? [] : afterVerdict) happens[each]();
  checker.settled();
  return found;
}

describe('WaitingChecker', () => {
  const excuse = 'waits: its members fit in order only because another pod has taken capacity since their verdict';

  it('excuses a group that its order missed until a pod of others took capacity', () => {
    expect(play()).toEqual([excuse]);
  });

  it('reports such a group if it fitted in order at the time of its verdict, or was rejected with an error', () => {
    expect([play({ isEarly: true }), play({ reason: 'SchedulerError' })]).toEqual([['I5'], ['I5']]);
  });

  it('reports such a group if a pod has ended since its verdict', () => {
    expect(play({ afterVerdict: ['bound', 'ended'] })).toEqual(['I5']);
  });
});
