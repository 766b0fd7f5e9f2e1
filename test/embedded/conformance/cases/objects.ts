/** The smallest objects that servers accept, for cases about something else. */
export function configMap(name: string, rest: { metadata?: object; data?: object } = {}): object {
  return { metadata: { name, ...rest.metadata }, ...(rest.data && { data: rest.data }) };
}

export function pod(name: string, spec: object = {}, metadata: object = {}): object {
  return { metadata: { name, ...metadata }, spec: { containers: [{ name: 'main', image: 'main' }], ...spec } };
}

export function podGroup(name: string, spec: object, metadata: object = {}): object {
  return {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name, ...metadata },
    spec,
  };
}

export function binding(name: string, node = 'any-node', metadata: object = {}): object {
  return { metadata: { name, ...metadata }, target: { kind: 'Node', name: node } };
}

/** Returns a CRD of Widgets in a group of the case. */
export function widgets(group: string, schema: object, version: object = {}, spec: object = {}): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      names: { plural: 'widgets', kind: 'Widget' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
      ...spec,
    },
  };
}
