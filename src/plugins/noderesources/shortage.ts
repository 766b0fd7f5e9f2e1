import { podsId } from '../../api/resource-names.ts';
import type { ResourceId, ResourceNames } from '../../api/resource-names.ts';
import { Status } from '../../framework/status.ts';

/**
 * The resources that a node is short of, as a step on a path of ids: each combination is made once, so that refusing a pod on
 * thousands of nodes allocates nothing after the first.
 */
export class Shortage {
  readonly #plugin: string;
  readonly #names: ResourceNames;
  readonly #reasons: readonly string[];
  /** id -> this shortage and one resource more */
  readonly #more = new Map<ResourceId, Shortage>();
  /** Preemption may help. */
  readonly unschedulable: Status;
  /** Even the empty node is too small. */
  readonly unresolvable: Status;

  constructor(plugin: string, names: ResourceNames, reasons: readonly string[] = []) {
    this.#plugin = plugin;
    this.#names = names;
    this.#reasons = reasons;
    this.unschedulable = new Status('Unschedulable', reasons, plugin);
    this.unresolvable = new Status('UnschedulableAndUnresolvable', reasons, plugin);
  }

  and(id: ResourceId): Shortage {
    let more = this.#more.get(id);
    if (more === undefined) {
      const reason = id === podsId ? 'Too many pods' : `Insufficient ${this.#names.nameOf(id)}`;
      more = new Shortage(this.#plugin, this.#names, [...this.#reasons, reason]);
      this.#more.set(id, more);
    }
    return more;
  }
}
