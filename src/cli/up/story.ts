import { partialGraceMs, GangHistory } from './gang-history.ts';
import type { Deadlock, GangRecord } from './gang-history.ts';
import { isFinished } from './observed.ts';
import type { ObservedGroup, ObservedJob, ObservedNode, ObservedPod, ObservedWorkload } from './observed.ts';
import { UnlabeledPods } from './unlabeled-pods.ts';
import type { UnlabeledStart } from './unlabeled-pods.ts';

/** One change that a watch reported. */
export type ClusterChange =
  | { readonly kind: 'pod'; readonly pod: ObservedPod }
  | { readonly kind: 'pod-gone'; readonly key: string }
  | { readonly kind: 'job'; readonly job: ObservedJob }
  | { readonly kind: 'job-gone'; readonly key: string }
  | { readonly kind: 'workload'; readonly workload: ObservedWorkload }
  | { readonly kind: 'workload-gone'; readonly key: string }
  | { readonly kind: 'group'; readonly group: ObservedGroup }
  | { readonly kind: 'group-gone'; readonly key: string }
  | { readonly kind: 'node'; readonly node: ObservedNode }
  | { readonly kind: 'node-gone'; readonly name: string };

/** An event to show, reported once. `group` is the key of the pod's group, if the pod names one. */
export type StoryEvent = { readonly atMs: number } & (
  | { readonly kind: 'group-created'; readonly group: string; readonly minMember: number }
  | { readonly kind: 'group-deleted'; readonly group: string }
  | { readonly kind: 'created' | 'running' | 'deleted'; readonly pod: string; readonly group: string | undefined }
  | { readonly kind: 'bound'; readonly pod: string; readonly group: string | undefined; readonly node: string }
  | {
      readonly kind: 'finished';
      readonly pod: string;
      readonly group: string | undefined;
      /** Undefined if the pod succeeded. */
      readonly failure: string | undefined;
    }
  | {
      readonly kind: 'scheduled' | 'partial';
      readonly group: string;
      readonly bound: number;
      readonly minMember: number;
    }
  | { readonly kind: 'group-finished'; readonly group: string; readonly succeeded: number; readonly failed: number }
  /** A verdict that has not changed for a moment. `pod` is set for a pod without a group. */
  | {
      readonly kind: 'pending';
      readonly group: string | undefined;
      readonly pod: string | undefined;
      readonly verdict: string;
    }
  /** Pods that lack the label of the group started one by one. */
  | { readonly kind: 'unlabeled'; readonly group: string; readonly cause: string }
  | { readonly kind: 'deadlock'; readonly deadlock: Deadlock }
);

/** A verdict is reported after this time without a change: while pods of a group are being created, each changes the verdict. */
const verdictSettlesMs = 250;
/** A scenario ends after this time without a change, if no further change is expected. */
export const quietAfterMs = 10_000;

const byName = new Intl.Collator('en', { numeric: true });

interface StandingVerdict {
  readonly pod: string | undefined;
  readonly group: string | undefined;
  readonly text: string;
  readonly sinceMs: number;
}

/**
 * Turns watch changes into events that a person can follow. The caller passes each change to `change` and calls `tick` a few times a
 * second; both return the new events. Views read the current state from it.
 */
export class Story {
  readonly #isMoving: () => boolean;
  readonly history = new GangHistory();
  /** Pod key -> the pod as last seen */
  readonly #pods = new Map<string, ObservedPod>();
  /** Keys of pods that were seen and deleted; undefined after `forgetGone`. */
  #gone: Set<string> | undefined = new Set();
  /** Job key -> the Job as last seen */
  readonly #jobs = new Map<string, ObservedJob>();
  /** Keys of Jobs that were seen and deleted; undefined after `forgetGone`. */
  #goneJobs: Set<string> | undefined = new Set();
  /** Group key -> the PodGroup as last seen */
  readonly #groups = new Map<string, ObservedGroup>();
  /** `group KEY`, or `pod KEY` for a pod without a group -> its latest verdict */
  readonly #verdicts = new Map<string, StandingVerdict>();
  /** Node name -> the node as last seen */
  readonly #nodes = new Map<string, ObservedNode>();
  /** Nodes in name order; undefined after any node has changed. */
  #sortedNodes: readonly ObservedNode[] | undefined;
  /** Key as in `#verdicts` -> verdicts already reported */
  readonly #reported = new Map<string, Set<string>>();
  /** Groups whose current partial start has been reported; an entry is removed when the partial start ends. */
  readonly #partialReported = new Set<string>();
  readonly #unlabeled = new UnlabeledPods();
  /** Keys of groups whose unlabeled start has been reported. */
  readonly #unlabeledReported = new Set<string>();
  #deadlockReported = false;
  #lastChangeMs = -Infinity;

  /** `isMoving` returns whether a bound pod or a workload will still change without outside help, which may free capacity. Default: never. */
  constructor(isMoving: () => boolean = () => false) {
    this.#isMoving = isMoving;
  }

  pods(): readonly ObservedPod[] {
    return [...this.#pods.values()];
  }

  /** Returns the nodes in name order, with numbers in names compared as numbers. */
  nodes(): readonly ObservedNode[] {
    return (this.#sortedNodes ??= [...this.#nodes.values()].sort((a, b) => byName.compare(a.name, b.name)));
  }

  /** Whether the pod was seen and has finished or been deleted. */
  isOver(podKey: string): boolean {
    const pod = this.#pods.get(podKey);
    return pod === undefined ? this.#gone?.has(podKey) === true : isFinished(pod);
  }

  /** Stops recording deleted pods and Jobs. Called when the scenario has ended, because the command may then run for days. */
  forgetGone(): void {
    this.#gone = undefined;
    this.#goneJobs = undefined;
  }

  /** Whether the Job was seen and has ended or been deleted. */
  isJobOver(key: string): boolean {
    const job = this.#jobs.get(key);
    return job === undefined ? this.#goneJobs?.has(key) === true : job.end !== undefined;
  }

  jobs(): readonly ObservedJob[] {
    return [...this.#jobs.values()];
  }

  /** Whether nothing has changed for `quietAfterMs`, counted from `sinceMs` at the earliest, and no further change is expected. */
  isQuiet(nowMs: number, sinceMs: number): boolean {
    return nowMs - Math.max(this.#lastChangeMs, sinceMs) >= quietAfterMs && !this.#isMoving();
  }

  /** Returns the groups that wait for each other's capacity; undefined while a bound pod may still end without outside help. */
  deadlock(nowMs: number): Deadlock | undefined {
    return this.#isMoving() ? undefined : this.history.deadlock(nowMs);
  }

  /** Returns the groups whose pods started one by one because they lack the group's label. */
  unlabeledStarts(): readonly UnlabeledStart[] {
    return this.#unlabeled.starts((key) => this.#groups.has(key));
  }

  /** Returns the latest verdict of a group that is not scheduled. */
  groupVerdict(group: string): string | undefined {
    return this.#verdicts.get(`group ${group}`)?.text;
  }

  change(atMs: number, change: ClusterChange): readonly StoryEvent[] {
    if (change.kind === 'node') {
      this.#sortedNodes = undefined;
      this.#nodes.set(change.node.name, change.node);
      return [];
    }
    this.#lastChangeMs = atMs;
    switch (change.kind) {
      case 'node-gone':
        this.#sortedNodes = undefined;
        this.#nodes.delete(change.name);
        return [];
      case 'job':
        this.#unlabeled.workloadSeen({ key: `Job ${change.job.key}`, mislabeled: change.job.mislabeled });
        this.#jobs.set(change.job.key, change.job);
        return [];
      case 'job-gone':
        this.#unlabeled.workloadGone(`Job ${change.key}`);
        if (this.#jobs.delete(change.key)) this.#goneJobs?.add(change.key);
        return [];
      case 'workload':
        this.#unlabeled.workloadSeen(change.workload);
        return [];
      case 'workload-gone':
        this.#unlabeled.workloadGone(change.key);
        return [];
      case 'pod':
        return this.#podSeen(atMs, change.pod);
      case 'pod-gone':
        return this.#podDeleted(atMs, change.key);
      case 'group':
        return this.#groupSeen(atMs, change.group);
      case 'group-gone':
        return this.#groupDeleted(atMs, change.key);
    }
  }

  /** Returns the events caused by the passing of time: settled verdicts, groups that stay partially bound, a deadlock. */
  tick(nowMs: number): readonly StoryEvent[] {
    return [
      ...this.#settledVerdicts(nowMs),
      ...this.#unlabeledGroups(nowMs),
      ...this.#stuckGroups(nowMs),
      ...this.#deadlock(nowMs),
    ];
  }

  #podSeen(atMs: number, pod: ObservedPod): StoryEvent[] {
    const events: StoryEvent[] = [];
    let previous = this.#pods.get(pod.key);
    if (previous !== undefined && previous.uid !== pod.uid) {
      events.push(...this.#podDeleted(atMs, pod.key));
      previous = undefined;
    }
    this.#pods.set(pod.key, pod);
    this.#unlabeled.podSeen(pod);
    const subject = { pod: pod.key, group: pod.group };
    if (previous === undefined) events.push({ atMs, kind: 'created', ...subject });
    if (pod.nodeName !== undefined && previous?.nodeName === undefined) {
      events.push({ atMs, kind: 'bound', node: pod.nodeName, ...subject });
    }
    if (pod.phase === 'Running' && previous?.phase !== 'Running') events.push({ atMs, kind: 'running', ...subject });
    if (isFinished(pod) && !(previous !== undefined && isFinished(previous))) {
      events.push({ atMs, kind: 'finished', failure: pod.failure, ...subject });
    }
    events.push(...this.#withHistory(atMs, pod.group, () => this.history.podSeen(atMs, pod)));
    this.#recordVerdict(atMs, pod);
    return events;
  }

  #podDeleted(atMs: number, key: string): StoryEvent[] {
    const pod = this.#pods.get(key);
    if (pod === undefined) return [];
    this.#pods.delete(key);
    this.#unlabeled.podGone(pod);
    this.#gone?.add(key);
    if (pod.group === undefined) this.#forgetVerdict(`pod ${key}`);
    const reported = this.#withHistory(atMs, pod.group, () => this.history.podDeleted(atMs, key));
    return [{ atMs, kind: 'deleted', pod: key, group: pod.group }, ...reported];
  }

  #groupDeleted(atMs: number, key: string): StoryEvent[] {
    if (!this.#groups.delete(key)) return [];
    this.history.groupDeleted(atMs, key);
    this.#forgetGroup(key);
    return [{ atMs, kind: 'group-deleted', group: key }];
  }

  /** Allows new reports for a later group with the same name. */
  #forgetGroup(key: string): void {
    this.#forgetVerdict(`group ${key}`);
    this.#partialReported.delete(key);
  }

  #forgetVerdict(subject: string): void {
    this.#verdicts.delete(subject);
    this.#reported.delete(subject);
  }

  #groupSeen(atMs: number, group: ObservedGroup): StoryEvent[] {
    const before = this.#groups.get(group.key);
    const isNew = before?.uid !== group.uid;
    if (isNew && before !== undefined) this.#forgetVerdict(`group ${group.key}`);
    this.#groups.set(group.key, group);
    const reported = this.#withHistory(atMs, group.key, () => this.history.groupSeen(atMs, group));
    if (!isNew) return reported;
    return [{ atMs, kind: 'group-created', group: group.key, minMember: group.minMember }, ...reported];
  }

  /** Records a change in the history and returns the events that it causes for the group. */
  #withHistory(atMs: number, group: string | undefined, record: () => void): StoryEvent[] {
    const before = group === undefined ? undefined : this.history.group(group);
    record();
    const after = group === undefined ? undefined : this.history.group(group);
    if (group === undefined) return [];
    if (after === undefined) {
      // The group has neither members nor a PodGroup, if it ever had one.
      this.#forgetGroup(group);
      return [];
    }
    const events: StoryEvent[] = [];
    if (after.state !== 'partial') this.#partialReported.delete(group);
    if (after.state === 'scheduled' && before?.state !== 'scheduled') {
      events.push({ atMs, kind: 'scheduled', group, bound: after.bound, minMember: after.minMember! });
      this.#verdicts.delete(`group ${group}`);
    }
    if (after.finishedAtMs !== undefined && before?.finishedAtMs === undefined) {
      events.push({ atMs, kind: 'group-finished', group, succeeded: after.succeeded, failed: after.failed });
    }
    return events;
  }

  #recordVerdict(atMs: number, { key, group, nodeName, verdict: text }: ObservedPod): void {
    const subject = group === undefined ? `pod ${key}` : `group ${group}`;
    if (group === undefined && nodeName !== undefined) this.#verdicts.delete(subject);
    if (text === undefined || nodeName !== undefined || this.#verdicts.get(subject)?.text === text) return;
    this.#verdicts.set(subject, { pod: group === undefined ? key : undefined, group, text, sinceMs: atMs });
  }

  #settledVerdicts(nowMs: number): StoryEvent[] {
    const events: StoryEvent[] = [];
    for (const [subject, { pod, group, text, sinceMs }] of this.#verdicts) {
      const reported = this.#reported.get(subject);
      if (nowMs - sinceMs < verdictSettlesMs || reported?.has(text) === true) continue;
      if (reported === undefined) this.#reported.set(subject, new Set([text]));
      else reported.add(text);
      events.push({ atMs: nowMs, kind: 'pending', pod, group, verdict: text });
    }
    return events;
  }

  #unlabeledGroups(nowMs: number): StoryEvent[] {
    const found = this.unlabeledStarts().filter(({ group }) => !this.#unlabeledReported.has(group));
    return found.map(({ group, cause }) => {
      this.#unlabeledReported.add(group);
      return { atMs: nowMs, kind: 'unlabeled', group, cause };
    });
  }

  #stuckGroups(nowMs: number): StoryEvent[] {
    const stuck = this.history
      .openPartialStarts()
      .filter(({ group, fromMs }) => nowMs - fromMs > partialGraceMs && !this.#partialReported.has(group));
    return stuck.map(({ group, minMember }) => {
      this.#partialReported.add(group);
      const record: GangRecord | undefined = this.history.group(group);
      return { atMs: nowMs, kind: 'partial', group, bound: record?.bound ?? 0, minMember };
    });
  }

  #deadlock(nowMs: number): StoryEvent[] {
    const deadlock = this.deadlock(nowMs);
    const isNew = deadlock !== undefined && !this.#deadlockReported;
    this.#deadlockReported = deadlock !== undefined;
    return isNew ? [{ atMs: nowMs, kind: 'deadlock', deadlock }] : [];
  }
}
