import type { Pod } from '../api/pod.ts';
import type { EventRegarding } from '../client/event-recorder.ts';

/** The pod as the object that an Event is about. */
export function regardingPod(pod: Pick<Pod, 'namespace' | 'name' | 'uid'>): EventRegarding {
  return { apiVersion: 'v1', kind: 'Pod', namespace: pod.namespace, name: pod.name, uid: pod.uid };
}
