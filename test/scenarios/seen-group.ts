import { parseGroupKey } from '../../src/api/group-key.ts';
import type { RunningProcess } from '../../src/compose/running-process.ts';
import { poll } from '../planes/poll.ts';

/** A PodGroup as a scheduler sees it. */
export interface SeenGroup {
  /** Absent: the PodGroup does not exist. */
  readonly minMember?: number;
  readonly counted: number;
}

/** Resolves once the scheduler sees the group so: watches of two kinds have no common order. */
export async function untilSeen(
  { url }: RunningProcess,
  group: string,
  isSo: (group: SeenGroup) => boolean,
): Promise<void> {
  const query = new URLSearchParams({ ...parseGroupKey(group) });
  await poll(async () => {
    const answer = await fetch(`${url}/debug/groups?${query.toString()}`);
    const seen: SeenGroup = answer.ok ? ((await answer.json()) as SeenGroup) : { counted: 0 };
    return isSo(seen) ? undefined : `it is ${JSON.stringify(seen)}`;
  }, `the scheduler sees a change of ${group}`);
}
