import type { Committed, StoreRecord } from '../world/record.ts';
import { groupNamed, podsIn, tallyOf, whyHeldBack } from './plain-group.ts';
import { hasChanged } from './plain-losses.ts';
import { hasEnded, isOnNode, isOpen, plainGroup, plainNode, plainPod } from './plain-objects.ts';
import type { PlainPod } from './plain-objects.ts';
import type { Beneficiary, PreemptionPlan } from './preemption-record.ts';

/** Beyond its grace period, a victim may take this long before the beneficiary gives up. */
export const slackMs = 60_000;

/** Reports whether the beneficiary is bound, or has its quorum, now. */
export function hasStarted(record: StoreRecord, { key, uid, group }: Beneficiary): boolean {
  if (group === undefined) {
    const object = record.get('pods', key);
    const pod = object && plainPod(object);
    return pod?.uid === uid && (isOnNode(pod) || hasEnded(pod));
  }
  const now = groupNamed(record, group.name);
  return now?.uid === uid && tallyOf(now, podsIn(record)).isWhole;
}

/** Reports whether the beneficiary waits for the same as when the plan began. */
export function isUnchanged(record: StoreRecord, { key, uid, group, waiting }: Beneficiary): boolean {
  const isSame = (before: PlainPod): boolean => {
    const object = record.get('pods', before.key);
    const pod = object && plainPod(object);
    if (pod?.uid !== before.uid || pod.group !== before.group) return false;
    return isOnNode(pod) || (isOpen(pod) && pod.milliCpu === before.milliCpu);
  };
  if (group === undefined) return record.get('pods', key) !== undefined && waiting.every(isSame);
  const now = groupNamed(record, group.name);
  return now?.uid === uid && now.minMember === group.minMember && waiting.every(isSame);
}

/** Returns the nodes that the plan reserves, as the nominations that its sender wrote show them; undefined: it wrote none. */
export function nodesOf(record: StoreRecord, plan: PreemptionPlan): ReadonlySet<string> | undefined {
  const uids = new Set(plan.beneficiary!.waiting.map(({ uid }) => uid));
  /** uid -> its node when the plan began: nominations are written before the first mark, or soon after */
  const before = new Map<string, string>();
  const nodes = new Set<string>();
  for (const { resource, by, at, object } of record.changes) {
    if (resource !== 'pods' || by !== plan.process.name) continue;
    const { uid, nominatedNode } = plainPod(object);
    if (!uids.has(uid)) continue;
    if (at < plan.startedAt) before.set(uid, nominatedNode);
    else nodes.add(nominatedNode);
  }
  for (const node of before.values()) nodes.add(node);
  nodes.delete('');
  return nodes.size === 0 ? undefined : nodes;
}

/**
 * Returns why a plan may have ended although its beneficiary did not start: a displacement, an expiry, or a change that the scheduler did
 * not make. Undefined: nothing explains it.
 */
export function whyEnded(record: StoreRecord, plan: PreemptionPlan): string | undefined {
  const { beneficiary, startedAt, victims } = plan;
  const { priority, waiting, group } = beneficiary!;
  if (!isUnchanged(record, beneficiary!)) return 'the beneficiary has changed';
  // The scheduler may have learned of the cause after the plan began.
  const gang = group && groupNamed(record, group.name);
  if (gang !== undefined && whyHeldBack(record, gang, podsIn(record)) !== undefined)
    return 'the beneficiary is held back';
  const nodes = nodesOf(record, plan);
  const isHere = (node: string): boolean => node !== '' && (nodes === undefined || nodes.has(node));
  const own = new Set(waiting.map(({ uid }) => uid));
  const since = record.changes.filter(({ at }) => at >= startedAt);
  if (since.some((change) => isMemberChange(change, beneficiary!))) return 'the beneficiary has changed';
  if (since.some((change) => isTakenBy(change, isHere, own, (pod) => pod.priority > priority)))
    return 'a higher priority took the capacity';
  if ([...victims.values()].some(({ pod }) => hasOutlived(record, pod, startedAt)))
    return 'a victim did not end in time';
  if (since.some((change) => isNodeChange(change, isHere))) return 'a node of the plan has changed';
  if (since.some((change) => isForeign(change, isHere, own))) return 'another component took the capacity';
  if (since.some(({ resource, object }) => resource === 'pods' && isRejectedMember(plainPod(object), group?.name, own)))
    return 'a node rejected a member';
  const terms = waiting.flatMap((pod) => pod.terms);
  const counts = (pod: PlainPod): boolean => isOnNode(pod) && terms.some((term) => pod.labeledAs.includes(term.group));
  const isAnywhere = (): boolean => true;
  if (since.some((change) => isTakenBy(change, isAnywhere, own, counts)))
    return 'a pod that its affinity looks for was bound';
  if (since.some(({ resource, object, previous }) => resource === 'pods' && isRelabeled(object, previous, counts)))
    return 'a pod that its affinity looks for was relabeled';
  return undefined;
}

/** A group that a member's spec names besides its own holds the whole gang back as soon as it exists. */
function isMemberChange({ resource, by, type, object }: Committed, { uid, group, waiting }: Beneficiary): boolean {
  if (group === undefined || by !== 'world') return false;
  if (resource.includes('podgroups')) {
    const changed = plainGroup(object);
    return changed.uid === uid || waiting.some(({ otherGroup }) => otherGroup === changed.name);
  }
  return (
    resource === 'pods' && plainPod(object).group === group.name && (type !== 'MODIFIED' || plainPod(object).isLeaving)
  );
}

/** A pod that is accepted came to a node of the plan, or was nominated there. */
function isTakenBy(
  { resource, object, previous }: Committed,
  isHere: (node: string) => boolean,
  own: ReadonlySet<string>,
  accepts: (pod: PlainPod) => boolean,
): boolean {
  if (resource !== 'pods') return false;
  const pod = plainPod(object);
  const before = previous && plainPod(previous);
  if (own.has(pod.uid) || !accepts(pod)) return false;
  const came = isHere(pod.node) && pod.node !== (before?.node ?? '');
  return came || (isHere(pod.nominatedNode) && pod.nominatedNode !== (before?.nominatedNode ?? ''));
}

function hasOutlived(record: StoreRecord, victim: PlainPod, startedAt: number): boolean {
  const askedAt = record.changes.find(({ resource, object, at, uid }) => {
    return resource === 'pods' && uid === victim.uid && at >= startedAt && plainPod(object).isLeaving;
  })?.at;
  if (askedAt === undefined) return false;
  const goneAt = record.changes.find(({ type, resource, uid }) => {
    return resource === 'pods' && type === 'DELETED' && uid === victim.uid;
  })?.at;
  return (goneAt ?? Infinity) - askedAt > victim.graceMs + slackMs - 2_000;
}

function isNodeChange({ resource, type, object, previous }: Committed, isHere: (node: string) => boolean): boolean {
  if (resource !== 'nodes' || !isHere(plainNode(object).name)) return false;
  return type !== 'MODIFIED' || hasChanged(object, previous!);
}

/** Another component bound, created, resized or nominated a pod on a node of the plan. */
function isForeign(change: Committed, isHere: (node: string) => boolean, own: ReadonlySet<string>): boolean {
  if (change.resource !== 'pods' || change.by.startsWith('scheduler')) return false;
  if (isTakenBy(change, isHere, own, () => true)) return true;
  const pod = plainPod(change.object);
  const before = change.previous && plainPod(change.previous);
  if (own.has(pod.uid)) return before !== undefined && pod.nominatedNode !== before.nominatedNode;
  return before !== undefined && isHere(pod.node) && pod.milliCpu > before.milliCpu;
}

/** A pod on a node began to count for the terms, or no longer does, while it stayed there. */
function isRelabeled(
  object: Committed['object'],
  previous: Committed['previous'],
  counts: (pod: PlainPod) => boolean,
): boolean {
  const [before, now] = [previous && plainPod(previous), plainPod(object)];
  return before?.node === now.node && isOnNode(before) && isOnNode(now) && counts(before) !== counts(now);
}

function isRejectedMember(pod: PlainPod, group: string | undefined, own: ReadonlySet<string>): boolean {
  return pod.isRejected && (own.has(pod.uid) || (group !== undefined && pod.group === group));
}
