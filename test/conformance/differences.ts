import type { JsonValue } from '../../src/embedded/json.ts';
import type { Exchange } from './exchange.ts';

/** One place where two recordings of a case differ. */
export interface Difference {
  /** Exchange and place in it: `0 answer.spec.taints`. */
  readonly at: string;
  /** Undefined where there is nothing. */
  readonly golden: JsonValue | undefined;
  readonly actual: JsonValue | undefined;
}

/** Where the recordings of one case differ, as deep as possible; a part that only one of them has is one difference. */
export function differences(golden: readonly Exchange[], actual: readonly Exchange[]): Difference[] {
  const found: Difference[] = [];
  for (let index = 0; index < Math.max(golden.length, actual.length); index++) {
    compare(golden[index] as unknown as JsonValue, actual[index] as unknown as JsonValue, `${index} `, found);
  }
  return found;
}

function compare(golden: JsonValue | undefined, actual: JsonValue | undefined, at: string, found: Difference[]): void {
  if (isContainer(golden) && isContainer(actual) && Array.isArray(golden) === Array.isArray(actual)) {
    const [left, right] = [golden as Record<string, JsonValue>, actual as Record<string, JsonValue>];
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const name = Array.isArray(golden) ? `[${key}]` : at.endsWith(' ') ? key : `.${key}`;
      compare(left[key], right[key], `${at}${name}`, found);
    }
  } else if (golden !== actual) {
    found.push({ at: at.trimEnd(), golden, actual });
  }
}

function isContainer(value: JsonValue | undefined): value is JsonValue[] | { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null;
}
