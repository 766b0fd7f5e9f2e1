import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { pruneAndDefault } from './prune-and-default.ts';

const schema: JsonObject = {
  type: 'object',
  properties: {
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      default: {},
      properties: {
        replicas: { type: 'integer', default: 1 },
        maybe: { type: 'string', nullable: true, default: 'set' },
        tasks: {
          type: 'array',
          items: { type: 'object', properties: { name: { type: 'string' }, kind: { type: 'string', default: 'job' } } },
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

describe('pruneAndDefault', () => {
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
    expect(pruneAndDefault(resource, schema)).toEqual({
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

  test('sets absent fields to their defaults, also inside a default', () => {
    expect(pruneAndDefault({}, schema).value).toEqual({ spec: { replicas: 1, maybe: 'set' } });
    expect(pruneAndDefault({ spec: { tasks: [{}] } }, schema).value).toMatchObject({
      spec: { tasks: [{ kind: 'job' }] },
    });
  });

  test('replaces null with the default unless the field is nullable', () => {
    expect(pruneAndDefault({ spec: { replicas: null, maybe: null } }, schema).value).toEqual({
      spec: { replicas: 1, maybe: null },
    });
  });

  test('drops unknown keys that every JavaScript object inherits', () => {
    const hostile = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "spec": {}}') as JsonObject;
    expect(pruneAndDefault(hostile, schema).unknownFields).toEqual(['__proto__', 'constructor']);
  });
});
