import type { Subject } from '../../api/explain/basis.ts';
import { parseGroupKey } from '../../api/group-key.ts';
import type { ClientTimeline } from '../../api/timeline/client-timeline.ts';
import { cutText, maxNameLength } from '../../base/safe-text.ts';

/** Returns the pod group or pod of a key. Of one that the timeline does not contain, it is what the key says; a pod then has only its uid. */
export function subjectOfKey({ entities }: Pick<ClientTimeline, 'entities'>, key: string): Subject {
  const known = entities.get(key)?.subject ?? parsed(key);
  return { ...known, namespace: cutText(known.namespace, maxNameLength), name: cutText(known.name, maxNameLength) };
}

function parsed(key: string): Subject {
  const id = key.slice(key.indexOf('/') + 1);
  if (key.startsWith('gang/')) return { kind: 'PodGroup', ...parseGroupKey(id) };
  return { kind: 'Pod', namespace: '', name: '', uid: cutText(id, maxNameLength) };
}
