import { shownName } from './observed.ts';
import type { StoryEvent } from './story.ts';

/** The columns of an event line. */
export interface EventLine {
  /** `0.41s` */
  readonly time: string;
  /** Name of the group, or `-` for a pod without a group and for events of several groups. */
  readonly group: string;
  /** Key of the group that sets the color of the line. */
  readonly groupKey: string | undefined;
  readonly verb: string;
  readonly detail: string;
}

/** Widths of the time and verb columns: the widest value, with the gap after a verb. */
const timeWidth = 8;
const verbWidth = 10;
/** Number of groups in a deadlock that are named. */
const maxDeadlockNames = 4;
/** Minimum width of the group column. */
export const minGroupWidth = 5;

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)}s`;
}

export function eventLine(event: StoryEvent): EventLine {
  const groupKey = 'group' in event ? event.group : undefined;
  return {
    time: seconds(event.atMs),
    group: groupKey === undefined ? '-' : shownName(groupKey),
    groupKey,
    ...describe(event),
  };
}

/** Formats the line without colors. */
export function formatEventLine({ time, group, verb, detail }: EventLine, groupWidth: number): string {
  return `${time.padStart(timeWidth)}  ${group.padEnd(groupWidth)}  ${verb.padEnd(verbWidth)}${detail}`;
}

function describe(event: StoryEvent): Pick<EventLine, 'verb' | 'detail'> {
  switch (event.kind) {
    case 'group-created':
      return { verb: 'created', detail: `PodGroup with minMember ${event.minMember}` };
    case 'group-deleted':
      return { verb: 'deleted', detail: 'PodGroup' };
    case 'created':
    case 'running':
    case 'deleted':
      return { verb: event.kind, detail: shownName(event.pod) };
    case 'bound':
      return { verb: 'bound', detail: `${shownName(event.pod)} → ${event.node}` };
    case 'finished':
      return { verb: event.failure === undefined ? 'finished' : 'FAILED', detail: finished(event) };
    case 'scheduled':
      return { verb: 'SCHEDULED', detail: `${event.bound} of ${event.minMember} members bound` };
    case 'partial':
      return {
        verb: 'PARTIAL',
        detail: `partially bound for more than a second: ${event.bound} of ${event.minMember} members`,
      };
    case 'group-finished':
      return { verb: 'FINISHED', detail: resultDetail(event.succeeded, event.failed) };
    case 'pending':
      return {
        verb: 'pending',
        detail: event.pod === undefined ? event.verdict : `${shownName(event.pod)}: ${event.verdict}`,
      };
    case 'unlabeled':
      return { verb: 'UNLABELED', detail: event.cause };
    case 'deadlock':
      return { verb: 'DEADLOCK', detail: deadlockDetail(event.deadlock) };
  }
}

function finished({ pod, failure }: { readonly pod: string; readonly failure: string | undefined }): string {
  return failure === undefined ? shownName(pod) : `${shownName(pod)}: ${failure}`;
}

/** `3 succeeded`, `2 succeeded, 1 failed` */
export function resultDetail(succeeded: number, failed: number): string {
  return failed === 0 ? `${succeeded} succeeded` : `${succeeded} succeeded, ${failed} failed`;
}

export function deadlockDetail({
  groups,
  sinceMs,
  atMs,
}: {
  readonly groups: readonly string[];
  readonly sinceMs: number;
  readonly atMs: number;
}): string {
  const names = groups.slice(0, maxDeadlockNames).map(shownName);
  const others = groups.length - names.length;
  const last = others > 0 ? `${others} more` : names.pop();
  const subject = `${names.join(', ')} and ${last}`;
  const quiet = Math.round((atMs - sinceMs) / 1_000);
  return `${subject} are partially bound and wait for each other: no pod started or finished for ${quiet} s`;
}
