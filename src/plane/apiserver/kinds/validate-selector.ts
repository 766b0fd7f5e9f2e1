import { SelectorError, compileLabelSelectorAt } from '../../../api/label-selector.ts';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { invalidValue } from '../schema/field-error.ts';

/** Checks a label selector. An absent selector is valid. */
export function validateSelector(selector: JsonObject | undefined, path: string): StatusCause[] {
  try {
    compileLabelSelectorAt(selector, path);
    return [];
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    return [invalidValue(path, selector!, error.message)];
  }
}
