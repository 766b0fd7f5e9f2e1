import type { JsonObject, JsonValue } from '../json.ts';

export const podsPath = '/api/v1/namespaces/default/pods';
export const configMapsPath = '/api/v1/namespaces/default/configmaps';
export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** Path of the objects of `thingDefinition`. */
export const thingsPath = '/apis/example.test/v1/namespaces/default/things';
export const podGroupsPath = '/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups';

export function podManifest(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { containers: [{ name: 'main', image: 'example.test/app:1' }], ...spec },
  };
}

export function nodeManifest(name: string): JsonObject {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { capacity: { cpu: '4', memory: '8Gi' } } };
}

export function configMapManifest(name: string, data: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}

export function bindingManifest(podName: string, nodeName: string, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: podName, ...metadata },
    target: { kind: 'Node', name: nodeName },
  };
}

/** Returns the CRD of Things, whose objects have these properties. `version` adds fields to the CRD's only version. */
export function thingDefinition(properties: JsonObject, version: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.test' },
    spec: {
      group: 'example.test',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          ...version,
          schema: { openAPIV3Schema: { type: 'object', properties } },
        },
      ],
    },
  };
}

/** Returns the Thing `a`. */
export function thingManifest(spec: JsonValue, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'example.test/v1', kind: 'Thing', metadata: { name: 'a', ...metadata }, spec };
}

/** Returns a CRD with a status subresource, bounds and printer columns. */
export function podGroupDefinition(): JsonObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'podgroups.scheduling.x-k8s.io' },
    spec: {
      group: 'scheduling.x-k8s.io',
      scope: 'Namespaced',
      names: { plural: 'podgroups', kind: 'PodGroup', shortNames: ['pg', 'pgs'], categories: ['gangs'] },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [
            { name: 'MinMember', type: 'integer', jsonPath: '.spec.minMember' },
            { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
            { name: 'Queue', type: 'string', jsonPath: '.spec.queue', priority: 1 },
          ],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: {
                    minMember: { type: 'integer', minimum: 1 },
                    queue: { type: 'string' },
                  },
                  required: ['minMember'],
                },
                status: { type: 'object', properties: { phase: { type: 'string' } } },
              },
            },
          },
        },
      ],
    },
  };
}

export function podGroupManifest(name: string, spec: JsonObject = { minMember: 2 }): JsonObject {
  return { apiVersion: 'scheduling.x-k8s.io/v1alpha1', kind: 'PodGroup', metadata: { name }, spec };
}

/** Returns a map with this many keys, all with the same value. */
export function entries(count: number, name: (index: number) => string, value: JsonObject[string]): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), value]));
}
