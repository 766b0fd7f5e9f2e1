import type { JsonObject } from '../../json.ts';
import { objectAt, textAt } from '../access.ts';

/**
 * Returns the seconds between DELETE and the removal of the pod: the requested period, or the pod's own. Zero for a pod that is
 * unbound or finished, and at least one second if negative. The node ends the period with a DELETE of zero seconds.
 */
export function podGracePeriod(pod: JsonObject, requested: number | undefined): number {
  const spec = objectAt(pod, 'spec');
  const own = spec?.terminationGracePeriodSeconds;
  const seconds = requested ?? (typeof own === 'number' ? own : 30);
  const phase = textAt(objectAt(pod, 'status'), 'phase');
  if (textAt(spec, 'nodeName') === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
  return seconds < 0 ? 1 : seconds;
}
