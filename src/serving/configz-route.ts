import { jsonAnswer } from './json-answer.ts';
import type { Route } from './route.ts';

const withheld = '(withheld)';
/** Names of fields with secret values: certificates and keys of extenders, and fields that plugin arguments may have. */
const secretName =
  /^(ca|cert|key)Data$|pass(word|wd|phrase)|secret|token|credential|api_?key|private_?key|authorization/i;

/**
 * Serves /configz: the effective configuration with all defaults, as `name` -> configuration, like kube-scheduler. It withholds
 * values that may be secret.
 */
export function configzRoute(name: string, configuration: object): Route {
  const answer = jsonAnswer({ [name]: withoutSecrets(configuration) });
  return { path: '/configz', answer: () => answer };
}

/** Returns a deep copy in which the values of secret fields and the userinfo of URLs are withheld. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/(?<=:\/\/)[^/@\s]+(?=@)/g, withheld);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, secretName.test(name) ? withheld : withoutSecrets(inner)]),
  );
}
