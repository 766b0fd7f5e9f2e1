import { describe, expect, it } from 'vitest';
import { Builders } from '../../test/builders/builders.ts';
import type { PodOptions } from '../../test/builders/pod.ts';
import { planAnnotations } from '../api/pod.ts';
import { Gang } from './gang.ts';

const build = new Builders();

function gangOf(uid: string, minMember: number): Gang {
  const gang = new Gang('default/pair');
  const { key, creationTimestamp } = build.projectedPodGroup({ name: 'pair' });
  const rest = { minResources: undefined, scheduleTimeoutSeconds: undefined, started: false };
  gang.setSpec({ uid, key, creationTimestamp, minMember, ...rest });
  return gang;
}

function plannedFor(groupUid: string, options: PodOptions): PodOptions {
  return { group: 'pair', annotations: { [planAnnotations.groupUid]: groupUid }, ...options };
}

describe('a gang', () => {
  it('is neither started nor helped by pods that succeeded in a former group of its name', () => {
    const gang = gangOf('second', 2);
    const done = { nodeName: 'a', phase: 'Succeeded' } as const;
    for (const pod of build.projectedPods(2, plannedFor('first', done))) gang.setMember(pod, false);
    expect([gang.started, gang.counted, gang.missing]).toEqual([false, 0, 2]);
  });

  it("counts those that succeeded in its own plan, or in nobody's, once it has started", () => {
    const gang = gangOf('second', 2);
    gang.setMember(build.projectedPod(plannedFor('second', { nodeName: 'a', phase: 'Succeeded' })), false);
    expect([gang.started, gang.counted]).toEqual([false, 0]);
    const other = build.projectedPod({ group: 'pair', nodeName: 'a', phase: 'Succeeded' });
    gang.setMember(other, false);
    expect([gang.started, gang.counted, gang.missing]).toEqual([true, 2, 0]);
    gang.removeMember(other.uid);
    expect([gang.started, gang.counted, gang.missing]).toEqual([true, 1, 1]);
  });

  it('is incomplete when some members are on nodes or believed to be, and the quorum is not', () => {
    const gang = gangOf('only', 2);
    const [first, second] = build.projectedPods(2, { group: 'pair' });
    gang.setMember(first!, false);
    gang.setMember(second!, false);
    expect(gang.incomplete).toBe(false);
    gang.setMember(first!, true);
    expect(gang.incomplete).toBe(true);
    gang.setMember(second!, true);
    expect(gang.incomplete).toBe(false);
  });
});
