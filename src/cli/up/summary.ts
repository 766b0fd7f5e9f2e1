import { exitCodes } from '../exit-codes.ts';
import { deadlockDetail, resultDetail, minGroupWidth, seconds } from './event-line.ts';
import type { GangRecord, PartialStart } from './gang-history.ts';
import { isFinished, shownName } from './observed.ts';
import type { ObservedJob } from './observed.ts';
import type { ScenarioEnd } from './scenario.ts';
import { quietAfterMs } from './story.ts';
import type { Story } from './story.ts';
import type { UnlabeledStart } from './unlabeled-pods.ts';

export interface Summary {
  readonly lines: readonly string[];
  readonly exitCode: number;
}

/** Returns the result of a scenario that ended at `endMs`: a line per group, the partial starts, and the exit code for `--exit`. */
export function summarize(story: Story, end: ScenarioEnd, endMs: number): Summary {
  const groups = story.history.groups();
  const partialStarts = story.history.partialStarts();
  const unlabeled = story.unlabeledStarts();
  const causeOf = (group: string): string | undefined => unlabeled.find((start) => start.group === group)?.cause;
  const width = groups.reduce((widest, { group }) => Math.max(widest, shownName(group).length), minGroupWidth);
  const ungrouped = story.pods().filter(({ group }) => group === undefined);
  const lines = [
    ...groups.map((group) => groupLine(group, story.groupVerdict(group.group) ?? causeOf(group.group), width)),
    ...(ungrouped.length === 0
      ? []
      : [
          `${ungrouped.length} ${ungrouped.length === 1 ? 'pod' : 'pods'} without a PodGroup: ${ungrouped.filter(isFinished).length} finished`,
        ]),
    ...story.jobs().map(jobLine),
    ...partialStarts.map((start) => partialLine(start, endMs)),
    ...unlabeled.map(unlabeledLine),
    `${partialStarts.length} partial ${partialStarts.length === 1 ? 'start' : 'starts'}`,
    endLine(end, endMs),
  ];
  return { lines, exitCode: exitCodeOf(story, end, partialStarts.length + unlabeled.length) };
}

function groupLine(record: GangRecord, verdict: string | undefined, width: number): string {
  const { group, scheduledAtMs, finishedAtMs, bound, minMember, state, succeeded, failed } = record;
  const name = shownName(group).padEnd(width);
  if (scheduledAtMs !== undefined) {
    const finished =
      finishedAtMs === undefined
        ? 'not finished'
        : `finished at ${seconds(finishedAtMs)}, ${resultDetail(succeeded, failed)}`;
    return `${name}  scheduled at ${seconds(scheduledAtMs)}, ${finished}`;
  }
  if (state === 'partial') return `${name}  partially bound: ${bound} of ${minMember} members`;
  const reason = verdict === undefined ? '' : `: ${verdict}`;
  return `${name}  pending${reason}`;
}

function jobLine({ key, end, reason }: ObservedJob): string {
  const state = end === undefined ? 'not finished' : end === 'Failed' ? `Failed: ${reason}` : end;
  return `Job ${shownName(key)}  ${state}`;
}

function partialLine({ group, fromMs, toMs, bound, minMember }: PartialStart, endMs: number): string {
  const name = shownName(group);
  const until = toMs === undefined ? 'the end' : seconds(toMs);
  const length = seconds((toMs ?? endMs) - fromMs);
  return `partial start: ${name} had ${bound} of ${minMember} members bound from ${seconds(fromMs)} to ${until} (${length})`;
}

function unlabeledLine({ group, pods }: UnlabeledStart): string {
  return `${pods} ${pods === 1 ? 'pod' : 'pods'} without the label of PodGroup ${shownName(group)} started one by one`;
}

function endLine(end: ScenarioEnd, endMs: number): string {
  switch (end.kind) {
    case 'finished':
      return `scenario took ${seconds(endMs)}, including control plane startup`;
    case 'deadlock':
      return `deadlock: ${deadlockDetail(end.deadlock)}`;
    case 'quiet':
      return `ended after ${seconds(endMs)}: no changes for ${quietAfterMs / 1_000} s, and none expected`;
    case 'timeout':
      return `ended after ${seconds(endMs)}: --timeout expired`;
    case 'interrupted':
      return `interrupted after ${seconds(endMs)}`;
  }
}

function exitCodeOf(story: Story, end: ScenarioEnd, brokenStarts: number): number {
  if (brokenStarts > 0 || end.kind === 'deadlock') return exitCodes.partialStart;
  const hasAllStarted = story.pods().every((pod) => pod.nodeName !== undefined || isFinished(pod));
  return end.kind === 'timeout' || !hasAllStarted || hasFailed(story) ? exitCodes.incomplete : exitCodes.ok;
}

/**
 * Returns whether a group ended with fewer than minMember successes, a Job failed, or a pod failed that belongs to neither a group nor a Job.
 */
function hasFailed(story: Story): boolean {
  const groups = story.history.groups();
  return (
    groups.some(({ members, succeeded, failed, minMember = 1 }) => {
      return failed > 0 && succeeded + failed === members && succeeded < minMember;
    }) ||
    story.jobs().some(({ end }) => end === 'Failed') ||
    story.pods().some(({ group, isOfJob, phase }) => group === undefined && !isOfJob && phase === 'Failed')
  );
}
