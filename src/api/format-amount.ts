import { formatQuantity } from './quantity.ts';

/** Resources that are measured in bytes. */
const inBytes = /^(memory|ephemeral-storage|hugepages-.*)$/;

/** Formats an amount in internal units (see `ResourceNames`) as a quantity: 1500 `cpu` is "1500m", 2147483648 `memory` is "2Gi". */
export function formatAmount(resource: string, amount: number): string {
  if (resource === 'cpu') return formatQuantity({ unscaled: amount, scale: -3, format: 'decimal' });
  return formatQuantity({ unscaled: amount, scale: 0, format: inBytes.test(resource) ? 'binary' : 'decimal' });
}
