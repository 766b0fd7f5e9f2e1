/** What a user wants to do: something with a resource, or with a path that is none. */
export type Attributes =
  | {
      readonly type: 'resource';
      readonly verb: string;
      readonly group: string;
      /** With its subresource: `pods/binding`. */
      readonly resource: string;
      /** Undefined for the whole cluster. */
      readonly namespace: string | undefined;
      /** Empty for a collection. */
      readonly name: string;
    }
  | { readonly type: 'path'; readonly verb: string; readonly path: string };

/** The same as kube-apiserver says it in a refusal. */
export function refusalText(user: string, attributes: Attributes): string {
  const who = `User ${JSON.stringify(user)} cannot ${attributes.verb}`;
  if (attributes.type === 'path') return `${who} path ${JSON.stringify(attributes.path)}`;
  const { resource, group, namespace } = attributes;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)} ${where}`;
}
