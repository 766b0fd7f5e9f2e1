import { jsonAnswer } from './json-answer.ts';
import type { Route } from './route.ts';

const withheld = '(withheld)';
/** Names of fields whose values are nobody's business: certificates and keys of extenders, and what arguments of a plugin may hold. */
const secretName =
  /^(ca|cert|key)Data$|pass(word|wd|phrase)|secret|token|credential|api_?key|private_?key|authorization/i;

/**
 * /configz: what the process was configured with, nothing left to defaults; `name` -> configuration, as kube-scheduler shows it. Values that may
 * be secret are withheld.
 */
export function configzRoute(name: string, configuration: object): Route {
  const answer = jsonAnswer({ [name]: withoutSecrets(configuration) });
  return { path: '/configz', answer: () => answer };
}

/** A copy, with the values of fields that sound secret and the users of URLs withheld, however deep. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/(?<=:\/\/)[^/@\s]+(?=@)/g, withheld);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, secretName.test(name) ? withheld : withoutSecrets(inner)]),
  );
}
