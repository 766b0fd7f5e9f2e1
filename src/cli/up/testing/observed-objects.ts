import type { Amounts, ObservedGroup, ObservedNode, ObservedPod } from '../observed.ts';

/** Creates a pod whose name starts with its group: `red-0` is a member of default/red. */
export function podOf(name: string, state: Partial<ObservedPod> = {}): ObservedPod {
  return {
    key: `default/${name}`,
    uid: `uid-of-${name}`,
    namespace: 'default',
    name,
    group: `default/${name.split('-')[0]}`,
    lookAlikes: [],
    owner: undefined,
    isOfJob: false,
    nodeName: undefined,
    boundAtMs: undefined,
    phase: 'Pending',
    verdict: undefined,
    failure: undefined,
    requests: { cpu: 1_000 },
    ...state,
  };
}

/** Creates a node with the given allocatable resources. */
export function nodeOf(name: string, milliCpu = 2_000, more: Amounts = {}): ObservedNode {
  return { name, allocatable: { cpu: milliCpu, ...more } };
}

/** Creates the group `default/NAME`. */
export function groupOf(name: string, minMember: number): ObservedGroup {
  return { key: `default/${name}`, uid: `uid-of-${name}`, minMember };
}
