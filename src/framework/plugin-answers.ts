import { isPromise } from 'node:util/types';
import type { NodeNames, PostFilterResult, Wait } from './plugin.ts';
import { Status } from './status.ts';

/**
 * Validates values that plugins return. The values are untyped at run time, because plugins come from outside. Each function returns the
 * value if the extension point allows it, and otherwise throws a TypeError that describes it.
 */

/** For points that return nothing or a rejection. */
export function readRejection(answer: unknown): Status | undefined {
  if (answer === undefined) return undefined;
  if (!(answer instanceof Status)) throw wrong(answer, 'undefined or a Status');
  if (answer.code === 'Skip') throw new TypeError('Skip is not allowed here');
  return answer;
}

/** For PreScore, PreBind and Bind. */
export function readRejectionOrSkip(answer: unknown): Status | undefined {
  if (answer === undefined || answer instanceof Status) return answer;
  throw wrong(answer, 'undefined or a Status');
}

export function readPreFilterResult(answer: unknown): Status | NodeNames | undefined {
  if (answer === undefined || answer instanceof Status) return answer;
  if (isObject(answer) && answer.nodeNames instanceof Set) return answer as unknown as NodeNames;
  throw wrong(answer, 'undefined, a Status, or { nodeNames } with a Set');
}

/** For a point that returns how many of `max` nodes remain. */
export function readCount(answer: unknown, max: number): number {
  if (typeof answer === 'number' && Number.isInteger(answer) && answer >= 0 && answer <= max) return answer;
  throw wrong(answer, `a whole number from 0 to ${max}`);
}

export function readPermitResult(answer: unknown): Status | Wait | undefined {
  if (answer === undefined || answer instanceof Status) return readRejection(answer);
  const waitMs = isObject(answer) ? answer.waitMs : undefined;
  if (typeof waitMs === 'number' && waitMs >= 0) return { waitMs };
  if (waitMs !== undefined) throw new TypeError(`waitMs must be a number of at least 0, not ${describe(waitMs)}`);
  throw wrong(answer, 'undefined, a Status, or { waitMs }');
}

export function readPostFilterResult(answer: unknown): PostFilterResult | undefined {
  if (answer === undefined) return undefined;
  if (!isObject(answer) || typeof answer.message !== 'string') throw wrong(answer, 'undefined or { message }');
  const { nominations, victims } = answer;
  const areNominations =
    nominations === undefined ||
    (Array.isArray(nominations) &&
      nominations.every((one) => isObject(one) && isPod(one.pod) && typeof one.nodeName === 'string'));
  if (!areNominations) throw new TypeError('nominations must be a list of { pod, nodeName }');
  if (victims !== undefined && !(Array.isArray(victims) && victims.every(isPod))) {
    throw new TypeError('victims must be a list of pods');
  }
  return answer as unknown as PostFilterResult;
}

/** For `sign`. */
export function readSignature(answer: unknown): string | undefined {
  if (answer === undefined || typeof answer === 'string') return answer;
  throw wrong(answer, 'undefined or a string');
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
export function dropPromise(answer: unknown): void {
  if (isPromise(answer)) answer.catch(() => undefined);
}

function wrong(answer: unknown, expected: string): TypeError {
  dropPromise(answer);
  return new TypeError(`it must return ${expected}, not ${describe(answer)}`);
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
