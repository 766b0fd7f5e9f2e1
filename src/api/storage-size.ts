import { parseQuantity, quantityToInteger } from './quantity.ts';

/** Returns bytes, rounded up, or undefined if the quantity is absent. Throws QuantityError. */
export function storageSize(quantity: string | number | undefined): number | undefined {
  return quantity === undefined ? undefined : quantityToInteger(parseQuantity(quantity));
}
