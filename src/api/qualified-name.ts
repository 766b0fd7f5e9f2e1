/** As labels, taints and resources have it after the slash, or alone: at most 63 letters, digits, `-`, `_` and `.`. */
export const plainName = '[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';

const word = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';

/** Kubernetes' qualified name, such as `app` or `example.com/tier`; what is before the slash is a DNS name of at most 253 characters. */
export const qualifiedName = `(?:(?=[^/]{1,253}/)${word}(?:\\.${word})*/)?${plainName}`;

const whole = new RegExp(`^${qualifiedName}$`);

export function isQualifiedName(text: string): boolean {
  return whole.test(text);
}

const wholeValue = new RegExp(`^(?:${plainName})?$`);

/** Whether a label may have this value, which may be empty. */
export function isLabelValue(text: string): boolean {
  return wholeValue.test(text);
}
