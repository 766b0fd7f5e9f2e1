/**
 * Whether a group has started. A group starts when its quorum is bound. Its life ends, and the group starts over, when its last live member is
 * gone. A member is live if the API shows it as bound or succeeded, whatever state a dry run has put it in. Only state that the API server has
 * confirmed counts; a plan does not.
 */
export class GangLife {
  started = false;
  /** A life has ended while this process looked. */
  hasEnded = false;
  /** uids of live members */
  readonly #live = new Set<string>();
  /** While the members are listed again: `#live` as it was before. */
  #liveBefore: ReadonlySet<string> | undefined;
  /** `startedSince` of a life that has ended: the controller may be late with the condition. */
  #outdated: string | undefined;

  /** Another group object has the name now. `note` is called for each of its members. */
  restart(): void {
    this.started = this.hasEnded = false;
    this.#outdated = undefined;
  }

  /** The member is live, or is not. `update` follows. */
  note(uid: string, isLive: boolean): void {
    if (isLive) this.#live.add(uid);
    else this.#live.delete(uid);
  }

  /**
   * Members or the spec have changed. `startedSince`: since when the condition Started is True; it counts only while a member is live, and not if
   * an ended life has left it behind. `isQuorumBound`: whether the live members include a quorum.
   */
  update(startedSince: string | undefined, isQuorumBound: () => boolean): void {
    if (this.#liveBefore !== undefined || this.started === this.#live.size > 0) return;
    if (this.started) this.#end(startedSince);
    else this.started = (startedSince !== undefined && startedSince !== this.#outdated) || isQuorumBound();
  }

  /** The members are listed again. Until `membersListed`, no life starts or ends: some members are older than others. */
  membersBeingListed(): void {
    this.#liveBefore ??= new Set(this.#live);
  }

  /**
   * All members are as of one list; `update` follows. If none of those that were live before is left, only the condition tells whether others have
   * kept the life going.
   */
  membersListed(startedSince: string | undefined): void {
    const isKept = startedSince !== undefined || [...(this.#liveBefore ?? [])].some((uid) => this.#live.has(uid));
    this.#liveBefore = undefined;
    if (this.started && !isKept) this.#end(undefined);
  }

  /** Everything is listed for the first time: a group without live members, of which the condition says that it has started, starts over. */
  allListed(startedSince: string | undefined): void {
    if (this.#live.size === 0 && startedSince !== undefined) this.#end(startedSince);
  }

  #end(startedSince: string | undefined): void {
    this.started = false;
    this.hasEnded = true;
    this.#outdated = startedSince;
  }
}
