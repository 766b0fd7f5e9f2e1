import type { JsonObject } from '../json.ts';
import { objectAt, objectsAt, textAt, textsAt } from './access.ts';

/** A label selector as kubectl writes one: `app=web,tier in (a,b),!old`. `<none>` for one that selects everything. */
export function labelSelectorText(selector: JsonObject | undefined): string {
  const labels = objectAt(selector, 'matchLabels');
  const equalities = Object.keys(labels ?? {}).map((key) => `${key}=${textAt(labels, key)}`);
  const expressions = objectsAt(selector, 'matchExpressions').map((expression) => {
    const key = textAt(expression, 'key');
    const values = `(${textsAt(expression, 'values').sort().join(',')})`;
    switch (expression.operator) {
      case 'In':
        return `${key} in ${values}`;
      case 'NotIn':
        return `${key} notin ${values}`;
      case 'DoesNotExist':
        return `!${key}`;
      default:
        return key;
    }
  });
  const parts = [...equalities, ...expressions].sort();
  return parts.length === 0 ? '<none>' : parts.join(',');
}

/** A map of labels that must be there, written the same way. */
export function labelsText(labels: JsonObject | undefined): string {
  return labelSelectorText(labels === undefined ? undefined : { matchLabels: labels });
}
