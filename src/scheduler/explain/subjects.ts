import type { Subject } from '../../api/explain/basis.ts';
import { parseGroupKey } from '../../api/group-key.ts';
import type { Pod } from '../../api/pod.ts';

/** Returns the group of a key (see `groupKeyOf`). */
export function subjectOfGroup(key: string, uid?: string): Subject {
  const { source, namespace, name } = parseGroupKey(key);
  return { kind: 'PodGroup', source, namespace, name, ...(uid !== undefined && { uid }) };
}

/** Returns the pod's group; the pod itself if it is in none. */
export function subjectOfPod(pod: Pod): Subject {
  return pod.podGroupKey === undefined ? podSubject(pod) : subjectOfGroup(pod.podGroupKey);
}

export function podSubject({ namespace, name, uid }: Pod): Subject {
  return { kind: 'Pod', namespace, name, uid };
}
