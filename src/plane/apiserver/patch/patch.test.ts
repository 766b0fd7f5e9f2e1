import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../json.ts';
import { applyJsonPatch } from './apply-json-patch.ts';
import { applyMergePatch } from './apply-merge-patch.ts';
import { applyStrategicMergePatch } from './apply-strategic-merge-patch.ts';
import { PatchError } from './patch-error.ts';

const kindOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof PatchError) return error.kind;
    throw error;
  }
  return 'applied';
};

const json = fc.jsonValue() as fc.Arbitrary<JsonValue>;
const hostile = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"a": 1}}') as JsonObject;

describe('JSON patch', () => {
  test.each<[string, unknown]>([
    ['malformed', { op: 'add' }],
    ['malformed', ['add']],
    ['malformed', [{ op: 'add', path: 'no-slash', value: 1 }]],
    ['malformed', [{ op: 'add', path: '/a' }]],
    ['unprocessable', [{ op: 'merge', path: '/a', value: 1 }]],
    ['testFailed', [{ op: 'test', path: '/a', value: 2 }]],
    ['unprocessable', [{ op: 'remove', path: '/b' }]],
    ['unprocessable', [{ op: 'add', path: '/b/c', value: 1 }]],
    ['unprocessable', [{ op: 'add', path: '/list/01', value: 1 }]],
    ['unprocessable', [{ op: 'move', from: '/a', path: '/b' }]],
    ['applied', [{ op: 'test', path: '/o', value: { y: 2, x: 1 } }]],
  ])('%s: %j', (kind, operations) => {
    expect(kindOf(() => applyJsonPatch({ a: 1, list: [1], o: { x: 1, y: 2 } }, operations as JsonValue))).toBe(kind);
  });

  test('tooLarge: may have 10,000 operations, as in kube-apiserver', () => {
    const operations = Array.from({ length: 10_001 }, () => ({ op: 'add', path: '/a', value: 1 }));
    expect(kindOf(() => applyJsonPatch({}, operations))).toBe('tooLarge');
    expect(kindOf(() => applyJsonPatch({}, operations.slice(1)))).toBe('applied');
  });

  test('replaces the whole document', () => {
    fc.assert(
      fc.property(json, json, (document, value) => {
        expect(applyJsonPatch(document, [{ op: 'replace', path: '', value }])).toEqual(value);
      }),
    );
  });

  test('removes what an add operation added', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.string(), json, (document, key, value) => {
        fc.pre(!Object.hasOwn(document, key));
        const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        const added = applyJsonPatch(document, [{ op: 'add', path, value }]);
        expect(
          applyJsonPatch(added, [
            { op: 'test', path, value },
            { op: 'remove', path },
          ]),
        ).toEqual(document);
      }),
    );
  });
});

describe('merge patch', () => {
  test('is idempotent', () => {
    fc.assert(
      fc.property(json, json, (document, patch) => {
        const once = applyMergePatch(document, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
      }),
    );
  });
});

test("no patch can change an object's prototype", () => {
  const merged = applyMergePatch({}, hostile) as JsonObject;
  const strategic = applyStrategicMergePatch({ metadata: {} }, { metadata: hostile }, 'V1Pod').metadata as JsonObject;
  const operations = [{ op: 'add', path: '/__proto__', value: { polluted: 1 } }];
  const patched = applyJsonPatch({}, operations) as JsonObject;
  for (const result of [merged, strategic, patched]) {
    expect(Object.keys(result)).toContain('__proto__');
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect((result as { polluted?: unknown }).polluted).toBeUndefined();
  }
});

describe('strategic merge patch', () => {
  test.each<[string, JsonObject]>([
    ['malformed', { spec: { $patch: 'merge' } }],
    ['malformed', { spec: { $retainKeys: ['a'], b: 1 } }],
    ['malformed', { spec: { '$setElementOrder/containers': 'a' } }],
    ['unprocessable', { spec: { containers: [{ image: 'without a name' }] } }],
    ['unprocessable', { spec: { containers: ['text'] } }],
  ])('%s: %j', (kind, patch) => {
    const pod = { spec: { containers: [{ name: 'a' }] } };
    expect(kindOf(() => applyStrategicMergePatch(pod, patch, 'V1Pod'))).toBe(kind);
  });

  test('deletes every element with the merge key of a deletion', () => {
    const pod: JsonObject = {
      spec: { containers: [{ name: 'a', ports: [{ containerPort: 53, protocol: 'TCP' }, { containerPort: 53 }] }] },
    };
    const patch: JsonObject = {
      spec: { containers: [{ name: 'a', ports: [{ containerPort: 53, $patch: 'delete' }] }] },
    };
    expect(applyStrategicMergePatch(pod, patch, 'V1Pod')).toEqual({ spec: { containers: [{ name: 'a', ports: [] }] } });
  });

  test('reads each element of a list a few times, however long the list and the patch are', () => {
    const count = 2_000;
    let reads = 0;
    const counted = (index: number): JsonObject =>
      Object.defineProperty({ value: 'x' }, 'name', { enumerable: true, get: () => (reads++, `v${index}`) });
    const elements = (order: (index: number) => number): JsonObject[] =>
      Array.from({ length: count }, (_, index) => counted(order(index)));
    const order = Array.from({ length: count }, (_, index) => ({ name: `v${index}` }));
    const patch = { env: elements((index) => count - 1 - index), '$setElementOrder/env': order };
    applyStrategicMergePatch({ env: elements((index) => index) }, patch, 'V1Container');
    // Sorting compares each element with about log2(2,000) = 11 others.
    expect(reads).toBeLessThan(60 * count);
  });

  test('reads each value of a merged set a few times, however long the set and the patch are', () => {
    const count = 2_000;
    let reads = 0;
    const counted = (values: string[]): string[] =>
      new Proxy(values, { get: (target, key, self) => (reads++, Reflect.get(target, key, self) as unknown) });
    const finalizers = (prefix: string): string[] =>
      counted(Array.from({ length: count }, (_, index) => `a.b/${prefix}${index}`));
    const patch = { finalizers: finalizers('new'), '$deleteFromPrimitiveList/finalizers': finalizers('old') };
    applyStrategicMergePatch({ finalizers: finalizers('old') }, patch, 'V1ObjectMeta');
    expect(reads).toBeLessThan(20 * count);
  });

  test('reports the path of an error', () => {
    const pod = { spec: { containers: [{ name: 'a', env: [{ name: 'A' }] }] } };
    const patch = { spec: { containers: [{ name: 'a', env: [{ value: 'x' }] }] } };
    expect(() => applyStrategicMergePatch(pod, patch, 'V1Pod')).toThrow(
      'spec.containers[0].env: the element {"value":"x"} does not have the merge key "name"',
    );
  });
});
