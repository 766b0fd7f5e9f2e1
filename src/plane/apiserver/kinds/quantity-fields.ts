import { QuantityError, formatQuantity, parseQuantity } from '../../../api/quantity.ts';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { objectAt } from './access.ts';
import { invalidValue } from './field-rules.ts';

/** Writes every quantity of a resource list in its canonical form ("0.5" becomes "500m"); unreadable ones stay. */
export function canonicalizeQuantities(owner: JsonObject | undefined, field: string): void {
  const list = objectAt(owner, field);
  for (const [name, value] of Object.entries(list ?? {})) {
    try {
      list![name] = formatQuantity(parseQuantity(value));
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
    }
  }
}

/** Checks that every value of a resource list is a quantity and not negative. */
export function validateQuantities(owner: JsonObject | undefined, field: string, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const [name, value] of Object.entries(objectAt(owner, field) ?? {})) {
    try {
      if (formatQuantity(parseQuantity(value)).startsWith('-')) {
        causes.push(invalidValue(`${path}.${field}[${name}]`, value, 'must be greater than or equal to 0'));
      }
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
      causes.push(invalidValue(`${path}.${field}[${name}]`, value, error.message));
    }
  }
  return causes;
}
