import type { ResourceList } from '../../api/resource-list.ts';
import type { ResourceId } from '../../api/resource-names.ts';
import { Amounts } from '../../cluster/amounts.ts';

/** What the members of one namespace use, and what is reserved for those that it lost. */
interface Usage {
  /** Sum of the requests of the bound members. */
  readonly bound: Amounts;
  /** resource -> most bound at the same time since the namespace last had no reservation */
  readonly most: Map<ResourceId, number>;
  /** Sum of the reservations. */
  readonly reserved: Amounts;
  members: number;
  reservations: number;
}

/**
 * Limits the reservations of each namespace: in no resource do they exceed the most that its members had bound at the same time since the
 * namespace last had no reservation. Updates the sums at each event, so that an event costs the same however many groups have reservations.
 */
export class NamespaceLimits {
  /** namespace -> its usage, while it has members or reservations */
  readonly #usages = new Map<string, Usage>();

  /** Number of namespaces with members or reservations. */
  get size(): number {
    return this.#usages.size;
  }

  /** A member was bound. */
  bind(namespace: string, requests: ResourceList): void {
    const usage = this.#of(namespace);
    const { bound, most } = usage;
    forgetMost(usage);
    bound.add(requests);
    usage.members++;
    for (const id of requests.ids) most.set(id, Math.max(most.get(id) ?? 0, bound.of(id)));
  }

  /** A member with these requests is not bound any more. */
  unbind(namespace: string, requests: ResourceList): void {
    const usage = this.#of(namespace);
    usage.bound.subtract(requests);
    usage.members--;
    this.#drop(namespace, usage);
  }

  /** Returns whether the namespace may have this much reserved as well. */
  allows(namespace: string, { ids, amounts }: ResourceList): boolean {
    const usage = this.#usages.get(namespace);
    if (usage === undefined) return false;
    forgetMost(usage);
    const { most, reserved } = usage;
    return ids.every((id, i) => reserved.of(id) + amounts[i]! <= (most.get(id) ?? 0));
  }

  reserve(namespace: string, requests: ResourceList): void {
    const usage = this.#of(namespace);
    usage.reserved.add(requests);
    usage.reservations++;
  }

  /** A reservation of this much has ended. */
  release(namespace: string, requests: ResourceList): void {
    const usage = this.#of(namespace);
    usage.reserved.subtract(requests);
    usage.reservations--;
    this.#drop(namespace, usage);
  }

  #of(namespace: string): Usage {
    const usage = this.#usages.get(namespace) ?? {
      bound: new Amounts(),
      most: new Map<ResourceId, number>(),
      reserved: new Amounts(),
      members: 0,
      reservations: 0,
    };
    this.#usages.set(namespace, usage);
    return usage;
  }

  #drop(namespace: string, { members, reservations }: Usage): void {
    if (members === 0 && reservations === 0) this.#usages.delete(namespace);
  }
}

/** Without reservations, only what is bound now counts. */
function forgetMost({ bound, most, reservations }: Usage): void {
  if (reservations > 0) return;
  most.clear();
  for (const [id, amount] of bound.entries()) most.set(id, amount);
}
