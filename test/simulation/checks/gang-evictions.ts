import type { Committed } from '../world/record.ts';
import type { Checker, Evidence } from './evidence.ts';
import { groupNamed, podsIn, tallyOf } from './plain-group.ts';
import { isOnNode, plainPod } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';

/** What the sender of an eviction cannot know yet: what was committed while the call was under way, or was told late. */
const lateMs = 10_000;
/** So long the controller needs at least to look at a group and to note that its quorum is on nodes. */
const brieflyMs = 500;

/**
 * I2 when a scheduler has a member evicted: its group never started and is on nodes in part since its grace at least, its policy allows it,
 * somebody makes the pod again, and no other group is on its way out. Not checked: whether it could have been completed, and what had not
 * reached the sender.
 */
export class ReleaseChecker implements Checker {
  readonly #evidence: Evidence;
  /** group name -> when a member of it was last evicted by a scheduler */
  readonly #releasedAt = new Map<string, number>();
  /** uid of a group -> when it was first on nodes, since it was last on none */
  readonly #onNodesSince = new Map<string, number>();
  /** uid of a group -> since when its quorum is on nodes */
  readonly #wholeSince = new Map<string, number>();
  /** uid of a group -> for how long its quorum was on nodes at the most */
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
    const say = (why: string): void =>
      this.#evidence.violated('I2', `${by} had ${pod.name} of group ${group.name} evicted, ${why}`);
    const isRecent = record.changes.some(({ key, resource, at }) => {
      const isOfGroup = resource.startsWith('podgroups') && key === `default/${group.name}`;
      return at > now() - lateMs && (isOfGroup || (resource === 'pods' && key === pod.key && at < now()));
    });
    if (!pod.isControlled) return say('which nobody makes again');
    if (isRecent) return;
    if (!group.releases) return say('whose policy is to keep trying');
    if (started.has(group.uid)) {
      const excuse = this.#whyUnnoted(group);
      if (excuse === undefined) say('which has started');
      else this.#evidence.excused(`a group is released: ${excuse} before anybody had noted that the group started`);
      return;
    }
    const since = this.#onNodesSince.get(group.uid) ?? now();
    // Times of conditions are whole seconds.
    if (now() - since < group.graceMs - 1_000 && !this.#wasReleasedLately(group.name)) say('before its grace was over');
    const others = podsIn(record).filter((other) => {
      const isOther = other.group !== undefined && other.group !== group.name && this.#wasReleasedLately(other.group);
      return isOther && other.isLeaving && isOnNode(other) && record.get('nodes', `/${other.node}`) !== undefined;
    });
    if (others.length > 0) say(`while group ${others[0]!.group} is being released`);
    this.#releasedAt.set(group.name, now());
  }

  /** Why it does not show that it has started, if it shows neither in its status nor in its members as they are. */
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

/** Keeps since when it is so; forgets it when it is so no more. */
function note(since: Map<string, number>, uid: string, isSo: boolean, now: number): void {
  if (!isSo) since.delete(uid);
  else if (!since.has(uid)) since.set(uid, now);
}
