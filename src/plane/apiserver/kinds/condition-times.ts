import type { JsonObject } from '../json.ts';
import { objectsAt } from './access.ts';

/** The API writes the times of these conditions always, null when nobody has given them. In place. */
export function fillConditionTimes(status: JsonObject | undefined, fields: readonly string[]): void {
  for (const condition of objectsAt(status, 'conditions')) for (const field of fields) condition[field] ??= null;
}
