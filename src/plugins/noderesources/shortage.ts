import { podsId } from '../../api/resource-names.ts';
import type { ResourceId, ResourceNames } from '../../api/resource-names.ts';
import { Status } from '../../framework/status.ts';

/** Shortages that are kept; beyond them all are forgotten, and made anew as they are met. Only what pods make up comes near it. */
const shortageLimit = 4096;

/**
 * The resources that nodes are short of: each combination is made once, so that rejecting a pod on thousands of nodes allocates nothing
 * after the first.
 */
export class Shortages {
  readonly #plugin: string;
  readonly #names: ResourceNames;
  #none: Shortage;
  #count = 0;

  constructor(plugin: string, names: ResourceNames) {
    this.#plugin = plugin;
    this.#names = names;
    this.#none = this.#made(undefined, '');
  }

  /** Short of nothing, which everything begins with. Whoever goes on from it may do so until the next one is asked for. */
  get none(): Shortage {
    if (this.#count > shortageLimit) {
      this.#count = 0;
      this.#none = this.#made(undefined, '');
    }
    return this.#none;
  }

  #made(less: Shortage | undefined, last: string): Shortage {
    this.#count++;
    const more = (of: Shortage, id: ResourceId): Shortage => {
      const reason = id === podsId ? 'Too many pods' : `Insufficient ${this.#names.nameOf(id)}`;
      return this.#made(of, reason);
    };
    return new Shortage({ plugin: this.#plugin, less, reason: last, more });
  }
}

/** What one step of a `Shortage` is made of. */
interface ShortageStep {
  readonly plugin: string;
  /** Undefined: this is the beginning. */
  readonly less: Shortage | undefined;
  readonly reason: string;
  readonly more: (of: Shortage, id: ResourceId) => Shortage;
}

/** The resources that a node is short of, as a step on a path of ids. */
export class Shortage {
  readonly #step: ShortageStep;
  /** id -> this shortage and one resource more */
  readonly #more = new Map<ResourceId, Shortage>();
  // Made when they are asked for: of a path only its end is.
  #unschedulable: Status | undefined;
  #unresolvable: Status | undefined;

  constructor(step: ShortageStep) {
    this.#step = step;
  }

  /** Preemption may help. */
  get unschedulable(): Status {
    return (this.#unschedulable ??= new Status('Unschedulable', this.#reasons(), this.#step.plugin));
  }

  /** Even the empty node is too small. */
  get unresolvable(): Status {
    return (this.#unresolvable ??= new Status('UnschedulableAndUnresolvable', this.#reasons(), this.#step.plugin));
  }

  and(id: ResourceId): Shortage {
    let more = this.#more.get(id);
    if (more === undefined) this.#more.set(id, (more = this.#step.more(this, id)));
    return more;
  }

  #reasons(): readonly string[] {
    const reasons: string[] = [];
    for (let step = this.#step; step.less !== undefined; step = step.less.#step) reasons.push(step.reason);
    return reasons.reverse();
  }
}
