import type { ObservedGroup, ObservedPod } from '../observed.ts';

/** A pod of the group its name begins with: `red-0` is a member of default/red. */
export function podOf(name: string, state: Partial<ObservedPod> = {}): ObservedPod {
  return {
    key: `default/${name}`,
    uid: `uid-of-${name}`,
    namespace: 'default',
    name,
    group: `default/${name.split('-')[0]}`,
    nodeName: undefined,
    phase: 'Pending',
    verdict: undefined,
    failure: undefined,
    milliCpu: 1_000,
    ...state,
  };
}

/** A group `default/NAME`. */
export function groupOf(name: string, minMember: number): ObservedGroup {
  return { key: `default/${name}`, uid: `uid-of-${name}`, minMember };
}
