import { isObject } from '../plugins/argument-schema.ts';

/**
 * A field of a value that may have any shape: what is not as it should be reads as absent, so that what else there is can be
 * checked all the same. The shape itself is checked by the schema.
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

/** A text that is not empty: kube-scheduler takes an empty one for an absent one. */
export function filledTextOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function wholeNumberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}
