import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { prune } from './prune.ts';

const schema: JsonObject = {
  type: 'object',
  properties: {
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      properties: {
        replicas: { type: 'integer' },
        maybe: { type: 'string', nullable: true },
        tasks: {
          type: 'array',
          items: { type: 'object', properties: { name: { type: 'string' }, kind: { type: 'string' } } },
        },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        metadata: { type: 'object' },
        open: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { closed: { type: 'object' } },
        },
      },
    },
  },
};

describe('prune', () => {
  test('drops and reports fields that the schema does not have', () => {
    const resource: JsonObject = {
      apiVersion: 'g/v1',
      kind: 'K',
      metadata: { name: 'a', anything: 1 },
      extra: 1,
      spec: {
        replicas: 2,
        maybe: 'x',
        tasks: [{ name: 't', kind: 'j', oops: true }],
        labels: { free: 'choice' },
        metadata: { name: 'not a resource' },
        open: { what: 'ever', closed: { no: 1 } },
      },
    };
    const before = structuredClone(resource);
    expect(prune(resource, schema)).toEqual({
      value: {
        apiVersion: 'g/v1',
        kind: 'K',
        metadata: { name: 'a', anything: 1 },
        spec: {
          replicas: 2,
          maybe: 'x',
          tasks: [{ name: 't', kind: 'j' }],
          labels: { free: 'choice' },
          metadata: {},
          open: { what: 'ever', closed: {} },
        },
      },
      unknownFields: ['extra', 'spec.tasks[0].oops', 'spec.metadata.name', 'spec.open.closed.no'],
    });
    expect(resource).toEqual(before);
  });

  test('drops null unless the field is nullable', () => {
    const spec = { replicas: null, maybe: null, open: { free: null, closed: null } };
    expect(prune({ spec }, schema).value).toEqual({ spec: { maybe: null, open: { free: null } } });
  });

  test('drops unknown keys that every JavaScript object inherits', () => {
    const hostile = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "spec": {}}') as JsonObject;
    expect(prune(hostile, schema).unknownFields).toEqual(['__proto__', 'constructor']);
  });
});
