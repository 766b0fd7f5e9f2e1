import { succeededByItself } from '../api/pod.ts';
import type { MemberPod } from './member-pod.ts';

/** Counts of members by state, from which a status is derived. */
export interface Tally {
  readonly members: number;
  /** Members in phase Running, including terminating ones. */
  readonly running: number;
  /** Running and not terminating: they count towards the quorum. */
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Bound, unfinished and not terminating. */
  readonly bound: number;
  /** Unfinished, not terminating and not gated: with the succeeded ones, they can form a quorum. */
  readonly usable: number;
  /** Unfinished, including terminating ones. */
  readonly unfinished: number;
  readonly ready: number;
}

export function tallyOf(members: readonly MemberPod[]): Tally {
  const tally = { members: members.length, running: 0, active: 0, succeeded: 0, failed: 0, bound: 0, usable: 0 };
  let unfinished = 0;
  let ready = 0;
  for (const member of members) {
    if (succeededByItself(member)) tally.succeeded++;
    else if (member.phase === 'Succeeded') continue;
    else if (member.phase === 'Failed') tally.failed++;
    else {
      unfinished++;
      if (member.phase === 'Running') tally.running++;
      if (member.deleting) continue;
      if (member.phase === 'Running') {
        tally.active++;
        if (member.ready) ready++;
      }
      if (isBound(member)) tally.bound++;
      if (!member.gated) tally.usable++;
    }
  }
  return { ...tally, unfinished, ready };
}

/**
 * Returns whether enough members are bound or have succeeded: for the quorum, or for that at their binding, which may have been raised
 * since.
 */
export function hasQuorum(members: readonly MemberPod[], { bound, succeeded }: Tally, quorum: number): boolean {
  return bound + succeeded >= quorum || hadQuorum(members);
}

function hadQuorum(members: readonly MemberPod[]): boolean {
  /** quorum -> number of members bound while it was the quorum */
  const counts = new Map<number, number>();
  for (const member of members) {
    const { plannedQuorum: quorum, phase } = member;
    const isThere = succeededByItself(member) || (phase !== 'Failed' && !member.deleting && isBound(member));
    if (quorum === undefined || !isThere) continue;
    const count = (counts.get(quorum) ?? 0) + 1;
    if (count >= quorum) return true;
    counts.set(quorum, count);
  }
  return false;
}

/**
 * Returns the unbound member with the lowest uid. Gated members come last: their condition is the API server's and is unrelated
 * to the group.
 */
export function firstUnbound(members: readonly MemberPod[]): MemberPod | undefined {
  let first: MemberPod | undefined;
  for (const member of members) {
    if (member.phase === 'Succeeded' || member.phase === 'Failed' || member.deleting || isBound(member)) continue;
    if (first === undefined || isBefore(member, first)) first = member;
  }
  return first;
}

function isBefore(a: MemberPod, b: MemberPod): boolean {
  return a.gated === b.gated ? a.uid < b.uid : !a.gated;
}

function isBound(member: MemberPod): boolean {
  return member.nodeName !== '' || member.phase === 'Running';
}
