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
  /** While the members are listed again: the state before. */
  #before: { readonly started: boolean; readonly live: ReadonlySet<string> } | undefined;
  /** `startedSince` of a life that has ended: the controller may be late with the condition. */
  #outdated: string | undefined;
  /** `startedSince` when a list showed none of the known live members: nothing else tells that others had kept the life going. */
  #trusted: string | undefined;

  /** Takes over what another process knows of the group. */
  restore({ started, hasEnded }: Pick<GangLife, 'started' | 'hasEnded'>): void {
    this.started = started;
    this.hasEnded = hasEnded;
    this.#outdated = this.#trusted = undefined;
  }

  /** Another group object has the name now. `note` is called for each of its members. */
  restart(): void {
    this.started = this.hasEnded = false;
    this.#outdated = this.#trusted = undefined;
    if (this.#before !== undefined) this.#before = { started: false, live: new Set() };
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
    const mayEnd = this.#before === undefined;
    if (this.#trusted !== undefined && mayEnd) this.#checkTrusted(startedSince, isQuorumBound);
    if (this.started === this.#live.size > 0) return;
    if (!this.started) this.started = this.#isConfirmed(startedSince) || isQuorumBound();
    else if (mayEnd) this.#end(startedSince);
  }

  /** The members are listed again. Until `membersListed`, no life ends: some members are older than others. */
  membersBeingListed(): void {
    this.#before ??= { started: this.started, live: new Set(this.#live) };
  }

  /**
   * All members are as of one list; `update` follows. If none of those that were live before is left, only the condition tells whether others have
   * kept the life going.
   */
  membersListed(startedSince: string | undefined): void {
    const { started = false, live = new Set<string>() } = this.#before ?? {};
    this.#before = undefined;
    // The list may have shown new members before it showed that old ones are gone.
    if (!started) this.started = false;
    if (this.#live.size === 0) this.allListed(startedSince);
    else if (started && ![...live].some((uid) => this.#live.has(uid))) {
      if (this.#isConfirmed(startedSince)) this.#trusted = startedSince;
      else this.#end(startedSince);
    }
  }

  /** Everything is listed for the first time: a group without live members, of which the condition says that it has started, starts over. */
  allListed(startedSince: string | undefined): void {
    if (this.#before === undefined && this.#live.size === 0 && startedSince !== undefined) this.#end(startedSince);
  }

  #isConfirmed(startedSince: string | undefined): boolean {
    return startedSince !== undefined && startedSince !== this.#outdated;
  }

  /** The condition may have been older than the list. */
  #checkTrusted(startedSince: string | undefined, isQuorumBound: () => boolean): void {
    const isBound = isQuorumBound();
    if (!isBound && startedSince === this.#trusted) return;
    if (!isBound && startedSince === undefined) this.#end(this.#trusted);
    this.#trusted = undefined;
  }

  #end(startedSince: string | undefined): void {
    this.started = false;
    this.hasEnded = true;
    this.#outdated = startedSince;
    this.#trusted = undefined;
  }
}
