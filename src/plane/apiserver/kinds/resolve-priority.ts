import { forbidden } from '../http/api-error.ts';
import type { ResourceReference } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { metadataOf, textAt } from './access.ts';
import type { KindContext } from './resource-type.ts';

/** What a PriorityClass sets in a pod or PodGroup. */
export interface ResolvedPriority {
  /** Empty if the object names no class and no class is the default. */
  readonly className: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

/**
 * Returns the priority of a new object whose spec may name a PriorityClass. Without a name it is that of the global default class, or else
 * 0. Throws 403 if the class does not exist.
 */
export function resolvePriority(
  resource: ResourceReference,
  object: JsonObject,
  spec: JsonObject,
  { store }: KindContext,
): ResolvedPriority {
  const className = textAt(spec, 'priorityClassName');
  const classes = store.collection('priorityclasses.scheduling.k8s.io');
  const found =
    className === '' ? classes.list().find((each) => each.object.globalDefault === true) : classes.get('', className);
  if (found !== undefined) {
    const preemptionPolicy = textAt(found.object, 'preemptionPolicy') || 'PreemptLowerPriority';
    return { className: found.name, value: found.object.value as number, preemptionPolicy };
  }
  if (className === '') return { className, value: 0, preemptionPolicy: 'PreemptLowerPriority' };
  const why = `no PriorityClass with name ${className} was found`;
  throw forbidden(resource, textAt(metadataOf(object), 'name'), why);
}
