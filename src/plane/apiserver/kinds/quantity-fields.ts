import { compareQuantities, parseQuantity, zeroQuantity } from '../../../api/quantity.ts';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { objectAt } from './access.ts';
import { invalidValue } from '../schema/field-error.ts';

/** Rejects negative quantities of a resource list. Decoding has already checked that the values are quantities. */
export function validateQuantities(owner: JsonObject | undefined, field: string, path: string): StatusCause[] {
  return Object.entries(objectAt(owner, field) ?? {})
    .filter(([, value]) => compareQuantities(parseQuantity(value), zeroQuantity) < 0)
    .map(([name, value]) => invalidValue(`${path}.${field}[${name}]`, value, 'must be greater than or equal to 0'));
}
