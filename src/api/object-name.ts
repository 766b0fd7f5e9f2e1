const word = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const subdomain = new RegExp(`^(?=.{1,253}$)${word}(?:\\.${word})*$`);
const label = new RegExp(`^(?=.{1,63}$)${word}$`);

/** As most objects are called: a DNS name of at most 253 characters. */
export function isObjectName(text: string): boolean {
  return subdomain.test(text);
}

/** As namespaces are called: one word of a DNS name, of at most 63 characters. */
export function isNamespaceName(text: string): boolean {
  return label.test(text);
}
