import type { PodGroupPhase, PodGroupStatus } from '../../src/api/pod-group.ts';
import type { ClusterRecord } from './cluster-record.ts';
import { hangsMs } from '../planes/patience.ts';

/** The counters that matter to the test; omitted ones may have any value. */
export type ExpectedCounts = Partial<
  Pick<PodGroupStatus, 'running' | 'succeeded' | 'failed' | 'members' | 'scheduled' | 'ready' | 'occupiedBy'>
>;

/** Waits until the group (namespace/name) is in this phase with these counts. */
export async function expectPhase(
  record: ClusterRecord,
  group: string,
  phase: PodGroupPhase,
  counts: ExpectedCounts = {},
  withinMs: number = hangsMs,
): Promise<void> {
  const expected = Object.entries({ phase, ...counts });
  await record.until(`${group} is ${phase} with ${JSON.stringify(counts)}`, withinMs, () => {
    const status = statusOf(record, group);
    if (status === undefined) return 'it does not exist';
    return expected.every(([field, value]) => status[field as keyof PodGroupStatus] === value)
      ? undefined
      : `its status is ${JSON.stringify({ ...status, conditions: undefined })}`;
  });
}

/** Waits until the group has this condition. */
export async function expectGroupCondition(
  record: ClusterRecord,
  group: string,
  expected: { readonly type: string; readonly status: string; readonly reason: string; readonly says?: string },
  withinMs: number = hangsMs,
): Promise<void> {
  await record.until(`${group} has ${JSON.stringify(expected)}`, withinMs, () => {
    const conditions = record.podGroup(group)?.status?.conditions ?? [];
    const isMet = conditions.some(
      ({ type, status, reason, message }) =>
        type === expected.type &&
        status === expected.status &&
        reason === expected.reason &&
        message.includes(expected.says ?? ''),
    );
    return isMet ? undefined : `its conditions are ${JSON.stringify(conditions)}`;
  });
}

/** Returns the status of the group; an empty field may be absent. */
function statusOf(record: ClusterRecord, group: string): PodGroupStatus | undefined {
  const object = record.podGroups.current.get(group);
  return object && { occupiedBy: '', ...object.status };
}
