/** Name part of label, taint and resource keys: at most 63 letters, digits, `-`, `_` and `.`. */
export const plainName = '[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';

const word = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';

/** Kubernetes' qualified name, such as `app` or `example.com/tier`. The prefix is a DNS subdomain of at most 253 characters. */
export const qualifiedName = `(?:(?=[^/]{1,253}/)${word}(?:\\.${word})*/)?${plainName}`;

const whole = new RegExp(`^${qualifiedName}$`);

export function isQualifiedName(text: string): boolean {
  return whole.test(text);
}

const wholeValue = new RegExp(`^(?:${plainName})?$`);

/** Returns whether the text is a valid label value. It can be empty. */
export function isLabelValue(text: string): boolean {
  return wholeValue.test(text);
}
