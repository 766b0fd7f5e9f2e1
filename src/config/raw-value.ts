import { isObject } from '../plugins/argument-schema.ts';

/**
 * Returns a field of a value of any shape. A value of the wrong shape reads as absent, so that the other fields can still be
 * checked; the schema reports the shape.
 */
export function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns a non-empty text: kube-scheduler treats an empty one as absent. */
export function filledTextOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function wholeNumberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}
