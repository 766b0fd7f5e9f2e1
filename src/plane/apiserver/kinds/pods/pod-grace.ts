import type { JsonObject } from '../../json.ts';
import { objectAt, textAt } from '../access.ts';

/**
 * Seconds between DELETE and the moment the pod is gone: what was asked for, else the pod's own; none for a pod that
 * runs nowhere. It is the node's part to end the wait with a DELETE of zero seconds.
 */
export function podGracePeriod(pod: JsonObject, requested: number | undefined): number {
  const spec = objectAt(pod, 'spec');
  const own = spec?.terminationGracePeriodSeconds;
  const seconds = requested ?? (typeof own === 'number' ? own : 30);
  const phase = textAt(objectAt(pod, 'status'), 'phase');
  if (textAt(spec, 'nodeName') === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
  return seconds < 0 ? 1 : seconds;
}
