import { isPromise } from 'node:util/types';
import type { NodeNames, PostFilterResult, Wait } from './plugin.ts';
import { Status } from './status.ts';

/**
 * What a plugin answered, looked at as if it had no type: plugins come from elsewhere. Each function answers what the point may
 * answer, and throws a TypeError that says what came instead.
 */

/** Of the points that answer nothing or a rejection. */
export function readRejection(answer: unknown): Status | undefined {
  if (answer === undefined) return undefined;
  if (!(answer instanceof Status)) throw wrong(answer, 'undefined or a Status');
  if (answer.code === 'Skip') throw new TypeError('it may not answer Skip here');
  return answer;
}

/** Of PreScore, PreBind and Bind. */
export function readRejectionOrSkip(answer: unknown): Status | undefined {
  if (answer === undefined || answer instanceof Status) return answer;
  throw wrong(answer, 'undefined or a Status');
}

export function readPreFilterResult(answer: unknown): Status | NodeNames | undefined {
  if (answer === undefined || answer instanceof Status) return answer;
  if (isObject(answer) && answer.nodeNames instanceof Set) return answer as unknown as NodeNames;
  throw wrong(answer, 'undefined, a Status, or { nodeNames } with a Set');
}

/** Of a point that answers how many of these are left. */
export function readCount(answer: unknown, most: number): number {
  if (typeof answer === 'number' && Number.isInteger(answer) && answer >= 0 && answer <= most) return answer;
  throw wrong(answer, `a whole number from 0 to ${most}`);
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

/** Of `sign`. */
export function readSignature(answer: unknown): string | undefined {
  if (answer === undefined || typeof answer === 'string') return answer;
  throw wrong(answer, 'undefined or a text');
}

/** What was thrown, in words; never throws itself, whatever it is. */
export function describeThrown(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return describe(thrown);
    const { message }: { readonly message: unknown } = thrown;
    return typeof message === 'string' ? message : describe(message);
  } catch {
    return 'something that cannot be looked at';
  }
}

/** A promise that nobody will look at must not end the process when it fails. */
export function dropPromise(answer: unknown): void {
  if (isPromise(answer)) answer.catch(() => undefined);
}

function wrong(answer: unknown, expected: string): TypeError {
  dropPromise(answer);
  return new TypeError(`it must answer ${expected}, not ${describe(answer)}`);
}

/** In a few words. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isPromise(value)) return 'a Promise';
  if (typeof value === 'function') return 'a function';
  if (value === undefined) return 'undefined';
  if (typeof value !== 'object') return (value as boolean | number | bigint | symbol).toString();
  // As one of another copy of this module has it.
  if ('code' in value && 'reasons' in value) {
    return 'a Status of another copy of tutti-scheduler; take the one that the handle has';
  }
  return 'an object';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isPod(value: unknown): boolean {
  return isObject(value) && typeof value.uid === 'string' && typeof value.key === 'string';
}
