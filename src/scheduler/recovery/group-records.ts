import type { Pod } from '../../api/pod.ts';
import type { ExtenderResults } from '../extenders/extenders.ts';

/** A period in which the API shows a gang that never started with some bound members, but fewer than minMember. */
export interface PartialPeriod {
  /** Clock.monotonic() */
  readonly since: number;
}

/** The releases of a group by this process. */
export interface ReleaseHistory {
  readonly groupUid: string;
  /** How often the group was released. */
  readonly times: number;
  /** How often the eviction of its members was requested, including failed requests. */
  readonly tries: number;
  /** Clock.monotonic() at the end of its hold; 0 if no member was evicted. */
  readonly heldUntil: number;
  /** Clock.monotonic() of the earliest next eviction request. */
  readonly notBefore: number;
}

/** Capacity that is reserved for the replacement of a lost member. */
export interface ReservedCapacity {
  /** Uid of the group object that may use it. */
  readonly groupUid: string;
  /** The lost member, with the template that it had when it was bound. */
  readonly lost: Pod;
  /** Clock.monotonic() when it was lost. */
  readonly lostAt: number;
  /** How long it had been bound, in milliseconds. */
  readonly boundMs: number;
  /**
   * The owner of the reservation: a placeholder pod, because the name of the replacement is not known yet. It requests the least that the
   * lost member had requested since it was bound.
   */
  readonly owner: Pod;
  /** Clock.monotonic() */
  until: number;
}

/**
 * What this process keeps on one group while it repairs it. An absent field means that there is nothing to know. The states of a group that
 * never started: partially bound (`period`), then overdue, and then either staying (`staysBecause`), or being released (`evicting`) and on
 * hold (`history`). A group that has started loses members (`reserved`).
 */
export interface GroupRecord {
  /** Written by PartiallyBoundGangs: the current period. */
  period?: PartialPeriod | undefined;
  /** Written by PartiallyBoundGangs: a member could not be bound while others are bound. */
  isUnderRepair?: true | undefined;
  /**
   * Written by GangEvictions: how many members had been bound when this process started, kept while the gang has bound members. This process
   * cannot know whether such a gang had started before.
   */
  boundAtStart?: number | undefined;
  /** Written by GangEvictions: uids of members with an eviction request that the watch does not show as terminating yet. */
  evicting?: Set<string> | undefined;
  /** Written by GangEvictions: its releases, until it starts. */
  history?: ReleaseHistory | undefined;
  /** Written by GangEvictions: the reported reason why it stays bound although it is overdue. */
  staysBecause?: string | undefined;
  /** Written by GangEvictions: what the extenders responded in the latest attempt while the group has been partially bound. */
  extenderResults?: ExtenderResults | undefined;
  /** Written by GangEvictions: the round of checks that has checked it last. */
  checkedIn?: number | undefined;
  /** Written by MemberLosses: the capacity that is reserved now, oldest first. Never empty. */
  reserved?: Set<ReservedCapacity> | undefined;
  /** Written by MemberLosses: uids of members whose Binding failed and for which capacity may be reserved. */
  failed?: Set<string> | undefined;
  /** Written by MemberLosses: uids of members that were reported as stranded. */
  stranded?: ReadonlySet<string> | undefined;
  /** Written by MemberLosses: Clock.monotonic() of the latest report of a lost member. */
  reportedAt?: number;
}

/** The records of all groups that are, or may have to be, repaired. */
export class GroupRecords {
  /** group key -> its record */
  readonly #records = new Map<string, GroupRecord>();

  get(key: string): GroupRecord | undefined {
    return this.#records.get(key);
  }

  /** Returns the group's record, a new one if there is none. */
  of(key: string): GroupRecord {
    const record = this.#records.get(key) ?? {};
    this.#records.set(key, record);
    return record;
  }

  all(): Iterable<readonly [key: string, record: GroupRecord]> {
    return this.#records;
  }

  /** Deletes the record of a group that is gone, and a record that says nothing any more. */
  prune(key: string, isGone: boolean): void {
    const record = this.#records.get(key);
    const isEmpty = record !== undefined && Object.values(record).every((value) => value === undefined);
    if (isGone || isEmpty) this.#records.delete(key);
  }
}
