import type { Pod } from '../api/pod.ts';

/** What has to be placed: this many of these pods, whichever. */
export interface Wish {
  /** One of each kind, and how many of them there are. */
  readonly kinds: readonly { readonly pod: Pod; readonly count: number }[];
  readonly needed: number;
}

/** Pods of one template are of one kind. */
export function wishOf(members: readonly Pod[], needed: number): Wish {
  /** template -> pods */
  const kinds = new Map<Pod['template'], { readonly pod: Pod; count: number }>();
  for (const pod of members) {
    const kind = kinds.get(pod.template);
    if (kind === undefined) kinds.set(pod.template, { pod, count: 1 });
    else kind.count++;
  }
  return { kinds: [...kinds.values()], needed };
}
