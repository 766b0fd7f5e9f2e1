import { formatQuantity } from './quantity.ts';

/** Resources that are counted in bytes. */
const inBytes = /^(memory|ephemeral-storage|hugepages-.*)$/;

/** An amount as it stands in a vector (see `ResourceNames`), as users write it: `cpu` 1500 is "1500m", `memory` 2147483648 is "2Gi". */
export function formatAmount(resource: string, amount: number): string {
  if (resource === 'cpu') return formatQuantity({ unscaled: amount, scale: -3, format: 'decimal' });
  return formatQuantity({ unscaled: amount, scale: 0, format: inBytes.test(resource) ? 'binary' : 'decimal' });
}
