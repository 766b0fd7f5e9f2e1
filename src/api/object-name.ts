const word = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const subdomain = new RegExp(`^(?=.{1,253}$)${word}(?:\\.${word})*$`);
const label = new RegExp(`^(?=.{1,63}$)${word}$`);

/** Returns whether the text is a valid name of most objects: a DNS subdomain of at most 253 characters. */
export function isObjectName(text: string): boolean {
  return subdomain.test(text);
}

/** Returns whether the text is a valid namespace name: a DNS label of at most 63 characters. */
export function isNamespaceName(text: string): boolean {
  return label.test(text);
}
