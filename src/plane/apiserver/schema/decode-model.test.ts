import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { decodeModel } from './decode-model.ts';

const messages = (value: JsonObject, kind = 'V1Pod'): string[] =>
  decodeModel(value, kind).errors.map((error) => `${error.field}: ${error.message}`);

describe('decodeModel', () => {
  test('accepts a pod as kubectl sends it', () => {
    const pod: JsonObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'p',
        creationTimestamp: null,
        labels: { 'a.b/c': 'd' },
        managedFields: [{ manager: 'kubectl', fieldsV1: { 'f:spec': {} } }],
      },
      spec: {
        containers: [
          {
            name: 'c',
            resources: { requests: { cpu: '500m', memory: 1024, 'nvidia.com/gpu': '1' } },
            livenessProbe: { httpGet: { port: 'http' }, periodSeconds: 10 },
            readinessProbe: { httpGet: { port: 8080 } },
          },
        ],
        overhead: { cpu: 0.5 },
      },
      status: {},
    };
    expect(decodeModel(pod, 'V1Pod')).toMatchObject({ unknownFields: [], errors: [] });
  });

  test('returns the path of every unknown field', () => {
    const pod: JsonObject = {
      metadata: { nam: 'p', labels: { any: 'key' } },
      spec: { containers: [{ name: 'a' }, { name: 'b', foo: 1, env: [{ nmae: 'x' }] }] },
      constructor: {},
    };
    expect(decodeModel(pod, 'V1Pod').unknownFields).toEqual([
      'metadata.nam',
      'spec.containers[1].foo',
      'spec.containers[1].env[0].nmae',
      'constructor',
    ]);
  });

  test("reports a value of the wrong type in Kubernetes' wording", () => {
    expect(
      messages({ spec: { priority: 'high', hostNetwork: 'yes', containers: {}, nodeSelector: { a: 1 } } }),
    ).toEqual([
      'spec.priority: Invalid value: "string": spec.priority in body must be of type integer: "string"',
      'spec.hostNetwork: Invalid value: "string": spec.hostNetwork in body must be of type boolean: "string"',
      'spec.containers: Invalid value: "object": spec.containers in body must be of type array: "object"',
      'spec.nodeSelector[a]: Invalid value: "integer": spec.nodeSelector[a] in body must be of type string: "integer"',
    ]);
  });

  test.each([
    [{ spec: { priority: 2 ** 31 } }, 'must be of type int32'],
    [{ spec: { priority: 1.5 } }, 'must be of type integer'],
    [{ metadata: { creationTimestamp: '2026-02-30T00:00:00Z' } }, 'must be of type date-time'],
    [{ spec: { containers: [{ resources: { limits: { cpu: '1 core' } } }] } }, 'is not a quantity'],
    [{ spec: { containers: [{ livenessProbe: { tcpSocket: { port: true } } }] } }, 'must be of type integer,string'],
  ])('rejects %j', (pod, problem) => {
    expect(messages(pod as JsonObject).join()).toContain(problem);
  });

  test('requires six fractional digits in the times of a Lease', () => {
    expect(messages({ spec: { renewTime: '2026-01-01T00:00:00.000000Z' } }, 'V1Lease')).toEqual([]);
    expect(messages({ spec: { renewTime: '2026-01-01T00:00:00.000Z' } }, 'V1Lease').join()).toContain(
      'six fractional digits',
    );
  });

  test('requires base64 in the binary data of a ConfigMap', () => {
    expect(messages({ binaryData: { a: 'aGVsbG8=' } }, 'V1ConfigMap')).toEqual([]);
    expect(messages({ binaryData: { a: 'not base64' } }, 'V1ConfigMap').join()).toContain('must be of type byte');
  });
});
