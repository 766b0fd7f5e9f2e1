import { isPromise } from 'node:util/types';
import type { NodeNames, PostFilterResult, Wait } from './plugin.ts';
import { Status } from './status.ts';

/**
 * Validates values that plugins return. The values are untyped at run time, because plugins come from outside. Each function returns the
 * value if the extension point allows it, and otherwise throws a TypeError that describes it.
 */

/** For points that return nothing or a rejection. */
export function readRejection(result: unknown): Status | undefined {
  if (result === undefined) return undefined;
  if (!(result instanceof Status)) throw wrong(result, 'undefined or a Status');
  if (result.code === 'Skip') throw new TypeError('Skip is not allowed here');
  return result;
}

/** For PreScore, PreBind and Bind. */
export function readRejectionOrSkip(result: unknown): Status | undefined {
  if (result === undefined || result instanceof Status) return result;
  throw wrong(result, 'undefined or a Status');
}

export function readPreFilterResult(result: unknown): Status | NodeNames | undefined {
  if (result === undefined || result instanceof Status) return result;
  if (isObject(result) && result.nodeNames instanceof Set) return result as unknown as NodeNames;
  throw wrong(result, 'undefined, a Status, or { nodeNames } with a Set');
}

/** For a point that returns how many of `max` nodes remain. */
export function readCount(result: unknown, max: number): number {
  if (typeof result === 'number' && Number.isInteger(result) && result >= 0 && result <= max) return result;
  throw wrong(result, `a whole number from 0 to ${max}`);
}

export function readPermitResult(result: unknown): Status | Wait | undefined {
  if (result === undefined || result instanceof Status) return readRejection(result);
  const waitMs = isObject(result) ? result.waitMs : undefined;
  if (typeof waitMs === 'number' && waitMs >= 0) return { waitMs };
  if (waitMs !== undefined) throw new TypeError(`waitMs must be a number of at least 0, not ${describe(waitMs)}`);
  throw wrong(result, 'undefined, a Status, or { waitMs }');
}

export function readPostFilterResult(result: unknown): PostFilterResult | undefined {
  if (result === undefined) return undefined;
  if (!isObject(result) || typeof result.message !== 'string') throw wrong(result, 'undefined or { message }');
  const { nominations, victims, eventsMayHelp, policy } = result;
  const areNominations =
    nominations === undefined ||
    (Array.isArray(nominations) &&
      nominations.every((one) => isObject(one) && isPod(one.pod) && typeof one.nodeName === 'string'));
  if (!areNominations) throw new TypeError('nominations must be a list of { pod, nodeName }');
  if (victims !== undefined && !(Array.isArray(victims) && victims.every(isPod))) {
    throw new TypeError('victims must be a list of pods');
  }
  if (eventsMayHelp !== undefined && typeof eventsMayHelp !== 'boolean') {
    throw new TypeError(`eventsMayHelp must be true or false, not ${describe(eventsMayHelp)}`);
  }
  if (policy !== undefined && !(isObject(policy) && typeof policy.describe === 'function')) {
    throw new TypeError('policy must be a PreemptionPolicy');
  }
  return result as unknown as PostFilterResult;
}

/** For `sign`. */
export function readSignature(result: unknown): string | undefined {
  if (result === undefined || typeof result === 'string') return result;
  throw wrong(result, 'undefined or a string');
}

/** Describes a thrown value. Never throws. */
export function describeThrown(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return describe(thrown);
    const { message }: { readonly message: unknown } = thrown;
    return typeof message === 'string' ? message : describe(message);
  } catch {
    return 'a value that cannot be read';
  }
}

/** Ignores the failure of a promise that has no consumer, so that it does not end the process. */
export function dropPromise(result: unknown): void {
  if (isPromise(result)) result.catch(() => undefined);
}

function wrong(result: unknown, expected: string): TypeError {
  dropPromise(result);
  return new TypeError(`it must return ${expected}, not ${describe(result)}`);
}

/** Describes a value in a few words. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isPromise(value)) return 'a Promise';
  if (typeof value === 'function') return 'a function';
  if (value === undefined) return 'undefined';
  if (typeof value !== 'object') return (value as boolean | number | bigint | symbol).toString();
  // A Status created by another copy of this module.
  if ('code' in value && 'reasons' in value) {
    return 'a Status of another copy of tutti-scheduler; use handle.Status';
  }
  return 'an object';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isPod(value: unknown): boolean {
  return isObject(value) && typeof value.uid === 'string' && typeof value.key === 'string';
}
