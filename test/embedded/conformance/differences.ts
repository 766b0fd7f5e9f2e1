import type { JsonObject, JsonValue } from '../../../src/plane/apiserver/json.ts';
import type { Exchange } from './exchange.ts';
import type { Limit } from './limits.ts';

/** One place where two recordings of a case differ. */
export interface Difference {
  readonly exchange: number;
  readonly request: string;
  /** The place in the exchange, such as `answer.spec.taints`; empty when only one recording has that exchange. */
  readonly at: string;
  /** Undefined where there is no value. */
  readonly golden: JsonValue | undefined;
  readonly actual: JsonValue | undefined;
}

/** Returns where the recordings of one case differ, as deep as possible; a part that only one of them has is one difference. */
export function differences(golden: readonly Exchange[], actual: readonly Exchange[]): Difference[] {
  const found: Difference[] = [];
  for (let exchange = 0; exchange < Math.max(golden.length, actual.length); exchange++) {
    const [left, right] = [golden[exchange], actual[exchange]];
    const request = (right ?? left)!.request;
    compare(left as unknown as JsonValue, right as unknown as JsonValue, '', (at, goldenPart, actualPart) =>
      found.push({ exchange, request, at, golden: goldenPart, actual: actualPart }),
    );
  }
  return found;
}

/** Returns a sentence for each problem of one case: differences that no limit states, and limits whose difference does not exist. */
export function unstated(found: readonly Difference[], limits: readonly Limit[]): string[] {
  const covers = (limit: Limit, { exchange, at }: Difference): boolean =>
    limit.exchange === exchange && (limit.at === undefined || isWithin(at, limit.at));
  const problems = found
    .filter((difference) => !limits.some((limit) => covers(limit, difference)))
    .map(
      ({ exchange, request, at, golden, actual }) =>
        `${exchange}, ${request}: ${at} is ${JSON.stringify(actual)}, on a real server ${JSON.stringify(golden)}`,
    );
  const stale = limits
    .filter((limit) => !found.some((difference) => covers(limit, difference)))
    .map(({ exchange, at = 'all of it' }) => `${exchange}: limits.ts states that ${at} differs, and it does not`);
  return [...problems, ...stale];
}

function isWithin(at: string, outer: string): boolean {
  return at.startsWith(outer) && ['', '.', '['].includes(at.charAt(outer.length));
}

function compare(
  golden: JsonValue | undefined,
  actual: JsonValue | undefined,
  at: string,
  report: (at: string, golden: JsonValue | undefined, actual: JsonValue | undefined) => void,
): void {
  if (isContainer(golden) && isContainer(actual) && Array.isArray(golden) === Array.isArray(actual)) {
    const [left, right] = [golden as Record<string, JsonValue>, actual as Record<string, JsonValue>];
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const name = Array.isArray(golden) ? `[${key}]` : at === '' ? key : `.${key}`;
      compare(left[key], right[key], `${at}${name}`, report);
    }
  } else if (golden !== actual) {
    report(at, golden, actual);
  }
}

function isContainer(value: JsonValue | undefined): value is JsonValue[] | JsonObject {
  return typeof value === 'object' && value !== null;
}
