import { shownName } from './observed.ts';
import type { StoryEvent } from './story.ts';

/** The parts of a line that tells an event. */
export interface EventLine {
  /** `0.41s` */
  readonly time: string;
  /** Name of the group; `-` for a pod of its own, or for what concerns several groups. */
  readonly group: string;
  /** Key of the group whose colour the line takes. */
  readonly groupKey: string | undefined;
  readonly verb: string;
  readonly detail: string;
}

/** Columns of times and verbs: the widest there is, and the gap after them. */
const timeWidth = 8;
const verbWidth = 10;
/** What the group's column is at least wide. */
export const leastGroupWidth = 5;

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)}s`;
}

export function eventLine(event: StoryEvent): EventLine {
  const groupKey = 'group' in event ? event.group : undefined;
  return {
    time: seconds(event.atMs),
    group: groupKey === undefined ? '-' : shownName(groupKey),
    groupKey,
    ...notify(event),
  };
}

/** The line for an output without colours. */
export function formatEventLine({ time, group, verb, detail }: EventLine, groupWidth: number): string {
  return `${time.padStart(timeWidth)}  ${group.padEnd(groupWidth)}  ${verb.padEnd(verbWidth)}${detail}`;
}

function notify(event: StoryEvent): Pick<EventLine, 'verb' | 'detail'> {
  switch (event.kind) {
    case 'group-created':
      return { verb: 'created', detail: `PodGroup, starts ${event.minMember} members together` };
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
    case 'whole':
      return { verb: 'WHOLE', detail: `${event.bound} of ${event.minMember} members on nodes` };
    case 'partial':
      return {
        verb: 'PARTIAL',
        detail: `${event.bound} of ${event.minMember} members on nodes for more than a second`,
      };
    case 'group-finished':
      return { verb: 'DONE', detail: doneDetail(event.succeeded, event.failed) };
    case 'waits':
      return {
        verb: 'waits',
        detail: `${event.pod === undefined ? '' : `${shownName(event.pod)}: `}${printable(event.verdict)}`,
      };
    case 'deadlock':
      return { verb: 'DEADLOCK', detail: deadlockDetail(event.deadlock) };
  }
}

function finished({ pod, failure }: { readonly pod: string; readonly failure: string | undefined }): string {
  return failure === undefined ? shownName(pod) : `${shownName(pod)}: ${printable(failure)}`;
}

/** `3 succeeded`, `2 succeeded, 1 failed` */
export function doneDetail(succeeded: number, failed: number): string {
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
  const names = groups.map(shownName);
  const who = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  const quiet = Math.round((atMs - sinceMs) / 1_000);
  return `${who} hold nodes and wait for each other: no pod started or finished for ${quiet} s`;
}

/** Text of the API on one line, without what would move a terminal's cursor. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is taken out
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}
