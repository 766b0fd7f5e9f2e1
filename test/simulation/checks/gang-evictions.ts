import type { Committed } from '../world/record.ts';
import type { Checker, Evidence } from './evidence.ts';
import { groupNamed, podsIn, tallyOf } from './plain-group.ts';
import { isOnNode, plainPod } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';

/** Delay within which the sender of an eviction cannot know of a change: committed while the call was in flight, or delivered late. */
const lateMs = 10_000;
/** Minimum time that the controller needs to read a group and to record that its quorum is bound. */
const brieflyMs = 500;

/**
 * I2, when a scheduler evicts a member: its group never started, has been partially bound for at least its grace, and its policy allows the
 * eviction. A controller recreates the pod, and no other group is being released. Not checked: whether the group could have been completed,
 * and changes that had not reached the sender.
 */
export class ReleaseChecker implements Checker {
  readonly #evidence: Evidence;
  /** group name -> when a scheduler last evicted a member of it */
  readonly #releasedAt = new Map<string, number>();
  /** uid of a group -> first time it had a bound member, since it last had none */
  readonly #onNodesSince = new Map<string, number>();
  /** uid of a group -> since when its quorum is bound */
  readonly #wholeSince = new Map<string, number>();
  /** uid of a group -> longest time for which its quorum was bound */
  readonly #wholeMs = new Map<string, number>();

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  committed({ resource, by, object, previous }: Committed): void {
    if (resource !== 'pods') return;
    const pod = plainPod(object);
    const group = pod.group === undefined ? undefined : groupNamed(this.#evidence.record, pod.group);
    if (group === undefined) return;
    const isAsked = previous !== undefined && pod.isLeaving && !plainPod(previous).isLeaving;
    if (isAsked && by.startsWith('scheduler')) this.#evicted(pod, group, by);
    const { bound, isWhole } = tallyOf(group, podsIn(this.#evidence.record));
    const now = this.#evidence.now();
    note(this.#onNodesSince, group.uid, bound.length > 0, now);
    const wholeMs = now - (this.#wholeSince.get(group.uid) ?? now);
    this.#wholeMs.set(group.uid, Math.max(this.#wholeMs.get(group.uid) ?? 0, wholeMs));
    note(this.#wholeSince, group.uid, isWhole, now);
  }

  #evicted(pod: PlainPod, group: PlainGroup, by: string): void {
    const { record, now, started } = this.#evidence;
    const violated = (why: string): void =>
      this.#evidence.violated('I2', `${by} evicted ${pod.name} of group ${group.name}, ${why}`);
    const isRecent = record.changes.some(({ key, resource, at }) => {
      const isOfGroup = resource.startsWith('podgroups') && key === `default/${group.name}`;
      return at > now() - lateMs && (isOfGroup || (resource === 'pods' && key === pod.key && at < now()));
    });
    if (!pod.isControlled) return violated('which no controller recreates');
    if (isRecent) return;
    if (!group.releases) return violated('whose policy is KeepTrying');
    if (started.has(group.uid)) {
      const excuse = this.#whyUnnoted(group);
      if (excuse === undefined) violated('which has started');
      else this.#evidence.excused(`a group is released: ${excuse} before any process recorded that the group started`);
      return;
    }
    const since = this.#onNodesSince.get(group.uid) ?? now();
    // Condition times have a resolution of one second.
    if (now() - since < group.graceMs - 1_000 && !this.#wasReleasedLately(group.name))
      violated('before its grace had ended');
    const others = podsIn(record).filter((other) => {
      const isOther = other.group !== undefined && other.group !== group.name && this.#wasReleasedLately(other.group);
      return isOther && other.isLeaving && isOnNode(other) && record.get('nodes', `/${other.node}`) !== undefined;
    });
    if (others.length > 0) violated(`while group ${others[0]!.group} is being released`);
    this.#releasedAt.set(group.name, now());
  }

  /** Returns why neither the status nor the current members show that the group has started; undefined: one of them does. */
  #whyUnnoted(group: PlainGroup): string | undefined {
    const conditions: any[] = (group.status as any)?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === 'Started' && status === 'True')) return undefined;
    const pods = podsIn(this.#evidence.record);
    const isRelabelled = pods.some((pod) => pod.boundFor === group.uid && pod.group !== group.name);
    if (isRelabelled) return 'a member lost its label';
    const wasWholeBriefly = (this.#wholeMs.get(group.uid) ?? 0) < brieflyMs;
    return wasWholeBriefly && !tallyOf(group, pods).isWhole ? 'a member had ended' : undefined;
  }

  #wasReleasedLately(name: string): boolean {
    return this.#evidence.now() - (this.#releasedAt.get(name) ?? -Infinity) < lateMs;
  }
}

/** Records since when a group is in a state; forgets it once it is not. */
function note(since: Map<string, number>, uid: string, isSo: boolean, now: number): void {
  if (!isSo) since.delete(uid);
  else if (!since.has(uid)) since.set(uid, now);
}
