import type { JsonObject } from '../../../src/plane/apiserver/json.ts';

/** The definition of the custom resource: every way in which a schema says how parts are owned. */
export const gadgetDefinition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.apply.example.com' },
  spec: {
    group: 'apply.example.com',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                  parts: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: { name: { type: 'string' }, count: { type: 'integer', default: 7 } },
                    },
                  },
                  doors: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['port', 'protocol'],
                    items: {
                      type: 'object',
                      required: ['port'],
                      properties: {
                        port: { type: 'integer' },
                        protocol: { type: 'string', default: 'TCP' },
                        note: { type: 'string' },
                        hinges: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                      },
                    },
                  },
                  numbers: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
                  steps: { type: 'array', items: { type: 'string' } },
                  whole: {
                    type: 'object',
                    additionalProperties: { type: 'string' },
                    'x-kubernetes-map-type': 'atomic',
                  },
                  open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  words: { type: 'object', additionalProperties: { type: 'string' } },
                  amount: { 'x-kubernetes-int-or-string': true },
                  inner: {
                    type: 'object',
                    properties: {
                      deep: { type: 'object', properties: { x: { type: 'integer' }, y: { type: 'integer' } } },
                    },
                  },
                },
              },
              status: {
                type: 'object',
                properties: {
                  phase: { type: 'string' },
                  seen: { type: 'object', properties: { count: { type: 'integer' } } },
                },
              },
            },
          },
        },
      },
    ],
  },
};
