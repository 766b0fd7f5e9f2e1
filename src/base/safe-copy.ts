import { safeText } from './safe-text.ts';

/** Returns a copy of JSON data in which all texts, and the keys of objects, are safe to show (see `safeText`). */
export function safeCopy(value: unknown): unknown {
  if (typeof value === 'string') return safeText(value);
  if (Array.isArray(value)) return value.map(safeCopy);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [safeText(key), safeCopy(inner)]));
}
