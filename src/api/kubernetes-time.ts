/** The last second with a four-digit year, which is the limit of RFC 3339. */
export const latestTimeMs = Date.UTC(9999, 11, 31, 23, 59, 59);

/** Formats milliseconds since the epoch as Kubernetes' Time: RFC 3339, UTC, whole seconds. */
export function toKubernetesTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Formats milliseconds since the epoch as Kubernetes' MicroTime, with six decimal places. */
export function toKubernetesMicroTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}

/** Returns whole seconds since the epoch; 0 without a valid time. */
export function toEpochSeconds(time: string | undefined): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000) || 0;
}
