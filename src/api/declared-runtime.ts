import { parseDuration } from '../base/parse-duration.ts';
import { safeMessage } from '../base/safe-text.ts';

/** Annotation that declares how long a pod runs from its start: a duration such as `90m`, or whole seconds. */
export const runtimeAnnotation = 'tutti.dev/runtime';

type Annotations = Readonly<Record<string, string>> | undefined;

/** Ten years. */
const maxSeconds = 10 * 365 * 86_400;
const maxLength = 64;

/** Returns the declared run time in whole seconds, rounded up; 0 if the annotation is absent or invalid. */
export function runtimeSecondsOf(annotations: Annotations): number {
  const text = annotations?.[runtimeAnnotation];
  if (text === undefined || text.length > maxLength) return 0;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((parseDuration(text) ?? 0) / 1000);
  return seconds <= maxSeconds ? seconds : 0;
}

/** Returns the value of an annotation that declares no run time, cut and safe to show. An empty value counts as absent. */
export function invalidRuntimeOf(annotations: Annotations): string | undefined {
  const text = annotations?.[runtimeAnnotation] ?? '';
  return text === '' || runtimeSecondsOf(annotations) > 0 ? undefined : safeMessage(text, maxLength);
}
