import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import { sameLabels } from '../../api/same-labels.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import { reaches, reachesIncoming } from './affinity-rules.ts';
import type { AffinityRules, AffinityTerm, NamespaceLabels } from './affinity-rules.ts';

interface AffinityReaders {
  readonly rulesOf: (pod: Pod) => AffinityRules;
  readonly labelsOf: NamespaceLabels;
  /** Returns whether any pod, scheduled or not, may have anti-affinity to the pod. */
  readonly mayHaveExistingAntiAffinity: (pod: Pod) => boolean;
}

/**
 * Returns kube-scheduler's events, and these in addition:
 * - the last pod that matches the pod's affinity goes, and the pod itself may be the first one;
 * - a pod stops matching one anti-affinity term although it still matches another;
 * - a node is added or changes its domain where existing anti-affinity applies;
 * - the labels of a namespace change.
 */
export function affinityEvents({
  rulesOf,
  labelsOf,
  mayHaveExistingAntiAffinity,
}: AffinityReaders): readonly EventRegistration[] {
  const matches = (term: AffinityTerm, owner: Pod, other: Pod): boolean =>
    reaches(term, owner.namespace, other.namespace, labelsOf) && term.matches(other.labels);
  const matchesAffinity = (pod: Pod, other: Pod): boolean => {
    const { affinity } = rulesOf(pod);
    return affinity.length > 0 && affinity.every((term) => matches(term, pod, other));
  };
  const matchesAntiAffinity = (pod: Pod, other: Pod): boolean =>
    rulesOf(pod).antiAffinity.some((term) => matches(term, pod, other));
  const matchesExistingAntiAffinity = (pod: Pod, other: Pod): boolean =>
    rulesOf(other).antiAffinity.some(
      (term) => reachesIncoming(term, other.namespace, pod.namespace, labelsOf) && term.matches(pod.labels),
    );
  /** If no pod matches the affinity, a pod that matches its own terms may run on any node. */
  const mayBeFirst = (pod: Pod): boolean => matchesAffinity(pod, pod);

  const afterPod = (pod: Pod, event: ClusterEvent): boolean => {
    if (event.resource !== 'AssignedPod') return true;
    switch (event.action) {
      case 'Add':
        return matchesAffinity(pod, event.pod);
      case 'Delete':
        return (
          matchesAntiAffinity(pod, event.pod) ||
          matchesExistingAntiAffinity(pod, event.pod) ||
          (mayBeFirst(pod) && matchesAffinity(pod, event.pod))
        );
      case 'Update': {
        const [before, now] = [matchesAffinity(pod, event.old), matchesAffinity(pod, event.pod)];
        if ((now && !before) || (before && !now && mayBeFirst(pod))) return true;
        // Check each term, because each has its own topology.
        return rulesOf(pod).antiAffinity.some(
          (term) => matches(term, pod, event.old) && !matches(term, pod, event.pod),
        );
      }
    }
  };

  const afterNode = (pod: Pod, event: ClusterEvent): boolean => {
    if (event.resource !== 'Node') return true;
    const { affinity, antiAffinity } = rulesOf(pod);
    const { old } = event;
    if (event.action === 'Delete') {
      // The pods on the deleted node no longer count.
      return (
        mayHaveExistingAntiAffinity(pod) || mayBeFirst(pod) || antiAffinity.some((term) => hasKey(event.old, term))
      );
    }
    if (old === undefined) {
      // A pod without affinity was rejected because of pods on other nodes.
      return affinity.length === 0 || antiAffinity.length > 0 || affinity.some((term) => hasKey(event.new, term));
    }
    if (mayHaveExistingAntiAffinity(pod)) return !sameLabels(old.labels, event.new.labels);
    const changesDomain = (term: AffinityTerm): boolean =>
      old.labels[term.topologyKey] !== event.new.labels[term.topologyKey];
    return (
      affinity.some((term) => changesDomain(term) && (hasKey(event.new, term) || mayBeFirst(pod))) ||
      antiAffinity.some((term) => hasKey(old, term) && changesDomain(term))
    );
  };

  /** Returns whether the pod's terms, or those of other pods about its namespace, may match differently now. */
  const afterNamespace = (pod: Pod, event: ClusterEvent): boolean =>
    event.resource !== 'Namespace' || event.object.name === pod.namespace || rulesOf(pod).readsNamespaces;

  return [
    { resource: 'AssignedPod', actions: ['Add', 'Update', 'Delete'], hint: afterPod },
    { resource: 'Node', actions: ['Add', 'Update', 'Delete'], hint: afterNode },
    { resource: 'Namespace', actions: ['Add', 'Update', 'Delete'], hint: afterNamespace },
  ];
}

function hasKey({ labels }: Node, { topologyKey }: AffinityTerm): boolean {
  return Object.hasOwn(labels, topologyKey);
}
