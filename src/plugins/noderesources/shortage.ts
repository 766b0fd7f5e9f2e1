import type { RejectionReason } from '../../api/rejection-code.ts';
import { podsId } from '../../api/resource-names.ts';
import type { ResourceId, ResourceNames } from '../../api/resource-names.ts';
import { Status } from '../../framework/status.ts';

/** Maximum number of cached shortages; beyond it the cache starts over. Only made-up resource names come near it. */
const shortageLimit = 4096;
/** Of the empty set; never shown. */
const nothing: RejectionReason = { text: '', code: 'Other' };

/**
 * Caches the sets of resources that nodes are short of. Creates each set once, so that rejecting a pod on thousands of nodes allocates
 * nothing after the first.
 */
export class Shortages {
  readonly #plugin: string;
  readonly #names: ResourceNames;
  #none: Shortage;
  #count = 0;

  constructor(plugin: string, names: ResourceNames) {
    this.#plugin = plugin;
    this.#names = names;
    this.#none = this.#create(undefined, nothing);
  }

  /** The empty set, from which `and` builds the others. Sets built from it stay usable until the next access. */
  get none(): Shortage {
    if (this.#count > shortageLimit) {
      this.#count = 0;
      this.#none = this.#create(undefined, nothing);
    }
    return this.#none;
  }

  #create(less: Shortage | undefined, last: RejectionReason): Shortage {
    this.#count++;
    const more = (of: Shortage, id: ResourceId): Shortage => {
      const resource = this.#names.nameOf(id);
      const text = id === podsId ? 'Too many pods' : `Insufficient ${resource}`;
      return this.#create(of, { text, code: 'InsufficientResource', resource });
    };
    return new Shortage({ plugin: this.#plugin, less, reason: last, more });
  }
}

/** Data of one `Shortage`. */
interface ShortageStep {
  readonly plugin: string;
  /** The shortage without the last resource; undefined: the empty set. */
  readonly less: Shortage | undefined;
  readonly reason: RejectionReason;
  readonly more: (of: Shortage, id: ResourceId) => Shortage;
}

/** A set of resources that a node is short of, as a node in a tree of resource ids. */
export class Shortage {
  readonly #step: ShortageStep;
  /** id -> this shortage plus one resource */
  readonly #more = new Map<ResourceId, Shortage>();
  // Created on first use, because only the last shortage of a path needs a Status.
  #unschedulable: Status | undefined;
  #unresolvable: Status | undefined;

  constructor(step: ShortageStep) {
    this.#step = step;
  }

  /** Status when preemption may help. */
  get unschedulable(): Status {
    return (this.#unschedulable ??= new Status('Unschedulable', this.#reasons(), this.#step.plugin));
  }

  /** Status when even an empty node is too small. */
  get unresolvable(): Status {
    return (this.#unresolvable ??= new Status('UnschedulableAndUnresolvable', this.#reasons(), this.#step.plugin));
  }

  and(id: ResourceId): Shortage {
    let more = this.#more.get(id);
    if (more === undefined) this.#more.set(id, (more = this.#step.more(this, id)));
    return more;
  }

  #reasons(): readonly RejectionReason[] {
    const reasons: RejectionReason[] = [];
    for (let step = this.#step; step.less !== undefined; step = step.less.#step) reasons.push(step.reason);
    return reasons.reverse();
  }
}
