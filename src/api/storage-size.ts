import { parseQuantity, quantityToInteger } from './quantity.ts';

/** Bytes, rounded up; undefined where nothing is said. Throws QuantityError. */
export function storageSize(quantity: string | number | undefined): number | undefined {
  return quantity === undefined ? undefined : quantityToInteger(parseQuantity(quantity));
}
