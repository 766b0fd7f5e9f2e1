import type { JsonObject } from '../../json.ts';
import { metadataOf, objectAt, objectsAt, textsAt } from '../access.ts';

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

/**
 * Merges `matchLabelKeys` and `mismatchLabelKeys` of a new pod into the selectors of their terms, as kube-apiserver does. The
 * selectors then require or exclude the pod's own values of these labels. In place. Skips terms without a selector.
 */
export function mergeLabelKeys(pod: JsonObject): void {
  const labels = objectAt(metadataOf(pod), 'labels') ?? {};
  const spec = objectAt(pod, 'spec');
  const affinity = objectAt(spec, 'affinity');
  for (const side of [objectAt(affinity, 'podAffinity'), objectAt(affinity, 'podAntiAffinity')]) {
    const weighted = objectsAt(side, preferred).map((each) => objectAt(each, 'podAffinityTerm'));
    for (const term of [...objectsAt(side, required), ...weighted]) {
      merge(term, 'matchLabelKeys', 'In', labels);
      merge(term, 'mismatchLabelKeys', 'NotIn', labels);
    }
  }
  for (const constraint of objectsAt(spec, 'topologySpreadConstraints')) {
    merge(constraint, 'matchLabelKeys', 'In', labels);
  }
}

function merge(term: JsonObject | undefined, field: string, operator: string, labels: JsonObject): void {
  const selector = objectAt(term, 'labelSelector');
  if (term === undefined || selector === undefined) return;
  const more = textsAt(term, field)
    .filter((key) => typeof labels[key] === 'string')
    .map((key) => ({ key, operator, values: [labels[key]!] }));
  if (more.length > 0) selector.matchExpressions = [...objectsAt(selector, 'matchExpressions'), ...more];
}
