import type { Pod } from '../api/pod.ts';

/** What has to be placed: this many of these pods, whichever. */
export interface ResourceDemand {
  /** One of each kind, and how many of them there are. */
  readonly podClasses: readonly { readonly pod: Pod; readonly count: number }[];
  readonly needed: number;
}

/** Pods of one template are of one kind. */
export function resourceDemandOf(members: readonly Pod[], needed: number): ResourceDemand {
  /** template -> pods */
  const podClasses = new Map<Pod['template'], { readonly pod: Pod; count: number }>();
  for (const pod of members) {
    const kind = podClasses.get(pod.template);
    if (kind === undefined) podClasses.set(pod.template, { pod, count: 1 });
    else kind.count++;
  }
  return { podClasses: [...podClasses.values()], needed };
}
