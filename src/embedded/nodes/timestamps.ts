/** Kubernetes' Time: RFC 3339 in whole seconds. */
export function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** Kubernetes' MicroTime: RFC 3339 with six digits of a second. */
export function toMicroTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
