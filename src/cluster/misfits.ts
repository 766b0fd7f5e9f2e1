import type { Pod } from '../api/pod.ts';

export type PreemptionPolicy = 'PreemptLowerPriority' | 'Never';

/** What a group expects of each member's spec; undefined: nothing. */
export interface Expected {
  readonly memberPriority?: number | undefined;
  readonly memberPreemptionPolicy?: PreemptionPolicy | undefined;
}

/** Why a member, by uid, keeps its group from being ready. */
export type Misfit = { readonly uid: string } & (
  | {
      /** The group in spec.schedulingGroup is a gang of its own. */
      readonly kind: 'otherGang';
      readonly key: string;
    }
  | { readonly kind: 'priority'; readonly expected: number }
  | { readonly kind: 'preemptionPolicy'; readonly expected: PreemptionPolicy }
);

/** The members that keep a group from being ready. */
export class Misfits {
  /** uid -> misfit */
  readonly #byUid = new Map<string, Misfit>();
  /** Undefined: there is none, or the last one has left and the next one is not known yet. */
  #first: Misfit | undefined;

  get size(): number {
    return this.#byUid.size;
  }

  get(uid: string): Misfit | undefined {
    return this.#byUid.get(uid);
  }

  /** The misfit with the lowest uid, whatever the order of arrival. The same object until it has another reason. */
  get first(): Misfit | undefined {
    if (this.#first === undefined) for (const misfit of this.#byUid.values()) this.#compare(misfit);
    return this.#first;
  }

  /** Adds the member if it is a misfit. Otherwise removes it. `otherGang`: key of the gang in its spec.schedulingGroup. */
  check(pod: Pod, expected: Expected | undefined, otherGang: string | undefined): void {
    const misfit = misfitOf(pod, expected, otherGang);
    if (misfit === undefined) {
      this.remove(pod.uid);
      return;
    }
    const known = this.#byUid.get(pod.uid);
    if (known !== undefined && sameReason(known, misfit)) return;
    if (this.#first === known) this.#first = undefined;
    const isFirstKnown = this.#first !== undefined || this.#byUid.size === 0;
    this.#byUid.set(pod.uid, misfit);
    if (isFirstKnown) this.#compare(misfit);
  }

  remove(uid: string): void {
    if (this.#byUid.delete(uid) && this.#first?.uid === uid) this.#first = undefined;
  }

  #compare(misfit: Misfit): void {
    if (this.#first === undefined || misfit.uid < this.#first.uid) this.#first = misfit;
  }
}

function misfitOf(
  { uid, priority, template }: Pod,
  expected: Expected | undefined,
  otherGang: string | undefined,
): Misfit | undefined {
  if (otherGang !== undefined) return { uid, kind: 'otherGang', key: otherGang };
  const { memberPriority, memberPreemptionPolicy } = expected ?? {};
  if (memberPriority !== undefined && priority !== memberPriority)
    return { uid, kind: 'priority', expected: memberPriority };
  const policy: PreemptionPolicy = template.neverPreempts === true ? 'Never' : 'PreemptLowerPriority';
  if (memberPreemptionPolicy !== undefined && policy !== memberPreemptionPolicy)
    return { uid, kind: 'preemptionPolicy', expected: memberPreemptionPolicy };
  return undefined;
}

function sameReason(a: Misfit, b: Misfit): boolean {
  if (a.kind === 'otherGang') return b.kind === 'otherGang' && a.key === b.key;
  return b.kind === a.kind && a.expected === b.expected;
}
