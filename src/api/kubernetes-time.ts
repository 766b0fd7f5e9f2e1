/** The last second that has a year of four digits, which is as far as RFC 3339 goes. */
export const latestTimeMs = Date.UTC(9999, 11, 31, 23, 59, 59);

/** Milliseconds since the epoch as Kubernetes' Time: RFC 3339, UTC, whole seconds. */
export function toKubernetesTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** The same as Kubernetes' MicroTime, which has six digits of a second. */
export function toKubernetesMicroTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
