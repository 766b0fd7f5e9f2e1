import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import { sameLabels } from '../../api/same-labels.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import { reaches, reachesIncoming } from './affinity-rules.ts';
import type { AffinityRules, AffinityTerm, NamespaceLabels } from './affinity-rules.ts';

interface AffinityReaders {
  readonly rulesOf: (pod: Pod) => AffinityRules;
  readonly labelsOf: NamespaceLabels;
  /** Somebody, wherever it is, does not want the pod beside it. */
  readonly mayBeBarred: (pod: Pod) => boolean;
}

/**
 * What may help a pod that was turned away: kube-scheduler's hints, and besides that the last of those goes whom the pod wants to be
 * with although it could be the first of them itself, that another is no longer unwanted by one term though still by another, that a node
 * comes or moves where others do not want the pod, and that a namespace is labelled otherwise.
 */
export function affinityEvents({ rulesOf, labelsOf, mayBeBarred }: AffinityReaders): readonly EventRegistration[] {
  const isAbout = (term: AffinityTerm, owner: Pod, other: Pod): boolean =>
    reaches(term, owner.namespace, other.namespace, labelsOf) && term.matches(other.labels);
  const isWanted = (pod: Pod, other: Pod): boolean => {
    const { affinity } = rulesOf(pod);
    return affinity.length > 0 && affinity.every((term) => isAbout(term, pod, other));
  };
  const isUnwanted = (pod: Pod, other: Pod): boolean =>
    rulesOf(pod).antiAffinity.some((term) => isAbout(term, pod, other));
  const isBarredBy = (pod: Pod, other: Pod): boolean =>
    rulesOf(other).antiAffinity.some(
      (term) => reachesIncoming(term, other.namespace, pod.namespace, labelsOf) && term.matches(pod.labels),
    );
  /** Without others that it wants to be with, the pod may go anywhere. */
  const mayBeFirst = (pod: Pod): boolean => isWanted(pod, pod);

  const afterPod = (pod: Pod, event: ClusterEvent): boolean => {
    if (event.resource !== 'AssignedPod') return true;
    switch (event.action) {
      case 'Add':
        return isWanted(pod, event.pod);
      case 'Delete':
        return (
          isUnwanted(pod, event.pod) || isBarredBy(pod, event.pod) || (mayBeFirst(pod) && isWanted(pod, event.pod))
        );
      case 'Update': {
        const [was, is] = [isWanted(pod, event.old), isWanted(pod, event.pod)];
        if ((is && !was) || (was && !is && mayBeFirst(pod))) return true;
        // Each term is about nodes of its own.
        return rulesOf(pod).antiAffinity.some(
          (term) => isAbout(term, pod, event.old) && !isAbout(term, pod, event.pod),
        );
      }
    }
  };

  const afterNode = (pod: Pod, event: ClusterEvent): boolean => {
    if (event.resource !== 'Node') return true;
    const { affinity, antiAffinity } = rulesOf(pod);
    const { old } = event;
    if (event.action === 'Delete') {
      // What is on it is nowhere any more.
      return mayBeBarred(pod) || mayBeFirst(pod) || antiAffinity.some((term) => hasKey(event.old, term));
    }
    if (old === undefined) {
      // Who wants nobody was turned away because of those that are on other nodes.
      return affinity.length === 0 || antiAffinity.length > 0 || affinity.some((term) => hasKey(event.new, term));
    }
    if (mayBeBarred(pod)) return !sameLabels(old.labels, event.new.labels);
    const moves = (term: AffinityTerm): boolean => old.labels[term.topologyKey] !== event.new.labels[term.topologyKey];
    return (
      affinity.some((term) => moves(term) && (hasKey(event.new, term) || mayBeFirst(pod))) ||
      antiAffinity.some((term) => hasKey(old, term) && moves(term))
    );
  };

  /** Its own terms tell namespaces by labels, or it is in one that those of others may tell otherwise now. */
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
