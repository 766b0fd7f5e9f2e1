import type { JsonValue } from '../json.ts';
import type { ValueType } from './built-in-types.ts';

/** What a field of the type is when nobody has set it, as Go has it; undefined where that is no scalar. */
export function zeroOf(type: ValueType): JsonValue | undefined {
  switch (type.kind) {
    case 'string':
    case 'byte':
      return '';
    case 'number':
      return 0;
    case 'boolean':
      return false;
    default:
      return undefined;
  }
}
