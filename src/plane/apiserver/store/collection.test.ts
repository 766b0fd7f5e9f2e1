import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json.ts';
import type { Change } from './change.ts';
import { Store } from './store.ts';

type Operation =
  | { readonly type: 'write'; readonly key: number; readonly node: number }
  | { readonly type: 'remove'; readonly key: number };

const key = fc.nat({ max: 5 });
const operations = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('write' as const), key, node: fc.nat({ max: 2 }) }),
    fc.record({ type: fc.constant('remove' as const), key }),
  ),
  { maxLength: 40 },
);

function nameOf(key: number): { namespace: string; name: string } {
  return { namespace: key % 2 === 0 ? 'even' : 'odd', name: `o${key}` };
}

function run(store: Store, operation: Operation): void {
  const collection = store.collection('things', { node: (object) => object.node as string });
  const { namespace, name } = nameOf(operation.key);
  if (operation.type === 'write') {
    collection.write({ metadata: { namespace, name, uid: name }, node: `n${operation.node}` });
    return;
  }
  const stored = collection.get(namespace, name);
  if (stored !== undefined) collection.remove(stored);
}

function replay(state: Map<string, JsonObject>, changes: readonly Change[]): Map<string, JsonObject> {
  const next = new Map(state);
  for (const { type, object } of changes) {
    if (type === 'DELETED') next.delete(object.key);
    else next.set(object.key, object.object);
  }
  return next;
}

function stateOf(store: Store): Map<string, JsonObject> {
  return new Map(
    store
      .collection('things')
      .list()
      .map((stored) => [stored.key, stored.object]),
  );
}

describe('Collection', () => {
  it('equals an earlier list plus the changes since', () => {
    fc.assert(
      fc.property(operations, operations, (before, after) => {
        const store = new Store(1000);
        const collection = store.collection('things', { node: (object) => object.node as string });
        for (const operation of before) run(store, operation);
        const listed = stateOf(store);
        const version = store.resourceVersion;
        for (const operation of after) run(store, operation);
        const changes = collection.changesAfter(version)!;
        expect(replay(listed, changes)).toEqual(stateOf(store));
        const versions = changes.map((change) => change.resourceVersion);
        expect(versions).toEqual(versions.map((_, index) => version + 1 + index));
      }),
    );
  });

  it('lists in order, and finds the same objects by namespace and by index as a scan', () => {
    fc.assert(
      fc.property(operations, (all) => {
        const store = new Store(10);
        const collection = store.collection('things', { node: (object) => object.node as string });
        for (const operation of all) run(store, operation);
        const everything = collection.list();
        expect(everything.map((stored) => stored.key)).toEqual(everything.map((stored) => stored.key).sort());
        expect(collection.list('odd')).toEqual(everything.filter((stored) => stored.namespace === 'odd'));
        for (const node of ['n0', 'n1', 'n2']) {
          expect(collection.listByIndex('node', node)).toEqual(
            everything.filter((stored) => stored.object.node === node),
          );
        }
      }),
    );
  });

  it('returns undefined instead of an incomplete history', () => {
    const store = new Store(3);
    const collection = store.collection('things');
    for (let node = 0; node < 5; node++) run(store, { type: 'write', key: 0, node });
    expect(collection.changesAfter(2)).toBeUndefined();
    expect(collection.changesAfter(3)!.map((change) => change.resourceVersion)).toEqual([4, 5, 6]);
  });

  it('encodes each representation once', () => {
    const store = new Store(3);
    const stored = store.collection('things').write({ metadata: { name: 'a', uid: 'a' } });
    let encoded = 0;
    const encode = (): string => `text ${++encoded}`;
    expect([stored.text('v1', encode), stored.text('v1', encode), stored.text('v2', encode)]).toEqual([
      'text 1',
      'text 1',
      'text 2',
    ]);
  });
});
