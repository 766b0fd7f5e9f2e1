import type { JsonObject } from '../../json.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import { objectAt, objectsAt, textAt } from '../access.ts';
import type { KindContext } from '../resource-type.ts';

/** Adds the DisruptionTarget condition to a pod before its eviction. Skips unbound pods, because they are removed at once. */
export function markEvicted(context: KindContext, stored: StoredObject): StoredObject {
  const pod = stored.object;
  if (textAt(objectAt(pod, 'spec'), 'nodeName') === '') return stored;
  const status = objectAt(pod, 'status') ?? {};
  const condition: JsonObject = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: context.now(),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  const others = objectsAt(status, 'conditions').filter((each) => each.type !== condition.type);
  return context.store.collection('pods').write({
    ...pod,
    metadata: { ...(pod.metadata as JsonObject) },
    status: { ...status, conditions: [...others, condition] },
  });
}
