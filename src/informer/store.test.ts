import { describe, expect, test } from 'vitest';
import { objectKey, readObjectMeta } from './object-meta.ts';
import { Store } from './store.ts';

interface Pod {
  readonly name: string;
  readonly node?: string;
}

function storeOf(...pods: Pod[]): Store<Pod> {
  const store = new Store<Pod>({ node: ({ node }) => (node === undefined ? [] : [node]) });
  for (const pod of pods) store.set(metaOf(pod.name), pod);
  return store;
}

function metaOf(key: string, resourceVersion = '1'): { key: string; uid: string; resourceVersion: string } {
  return { key, uid: `uid-${key}`, resourceVersion };
}

describe('an index', () => {
  test('finds an object by its current values', () => {
    const store = storeOf({ name: 'a' }, { name: 'b', node: 'n1' }, { name: 'c', node: 'n1' });
    store.set(metaOf('a', '2'), { name: 'a', node: 'n1' });
    store.set(metaOf('b', '2'), { name: 'b', node: 'n2' });
    store.delete('c');
    expect([...store.byIndex('node', 'n1')]).toEqual([{ name: 'a', node: 'n1' }]);
    expect([...store.byIndex('node', 'n2')]).toEqual([{ name: 'b', node: 'n2' }]);
    expect([...store.byIndex('node', 'n3')]).toEqual([]);
  });

  test('throws if it does not exist', () => {
    expect(() => storeOf().byIndex('color', 'red')).toThrow('there is no index "color"');
  });

  test('keeps an object of which only the resourceVersion changed', () => {
    const pod = { name: 'a', node: 'n1' };
    const store = storeOf(pod);
    store.set(metaOf('a', '2'), pod);
    expect([...store.byIndex('node', 'n1')]).toEqual([pod]);
    expect(store.entry('a')?.resourceVersion).toBe('2');
  });
});

describe('object metadata', () => {
  test('yields a key with a namespace only for namespaced objects', () => {
    expect(objectKey('default', 'a')).toBe('default/a');
    expect(objectKey(undefined, 'a')).toBe('a');
    expect(objectKey('', 'a')).toBe('a');
  });

  test.each([
    [null, 'metadata is missing'],
    ['text', 'metadata is missing'],
    [{ metadata: { uid: 'u', resourceVersion: '1' } }, 'metadata.name is missing'],
    [{ metadata: { name: 'a', resourceVersion: '1' } }, 'metadata.uid is missing'],
    [{ metadata: { name: 'a', uid: 'u' } }, 'metadata.resourceVersion is missing'],
    [{ metadata: { name: 'a', uid: 'u', resourceVersion: '1', namespace: 1 } }, 'metadata.namespace is not a string'],
  ])('of %j is malformed: %s', (raw, message) => {
    expect(() => readObjectMeta(raw)).toThrow(message);
  });
});
