import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import { configMapManifest, configMapsPath } from '../testing/manifests.ts';
import { History } from './history.ts';
import { Store } from './store.ts';

function storeOf(historyLimitBytes: number): Store {
  return new Store({ historyLimit: 10_000, historyLimitBytes, initialResourceVersion: 100 });
}

function write(store: Store, collection: string, name: string, characters: number): void {
  store.collection(collection).write({ metadata: { name, uid: name }, text: 'x'.repeat(characters) });
}

function keptOf(store: Store, collection: string): number {
  for (let version = 0; ; version++) {
    const changes = store.collection(collection).changesAfter(version);
    if (changes !== undefined) return changes.length;
  }
}

describe('history', () => {
  it('of large objects is short', () => {
    const store = storeOf(1_000_000);
    for (let round = 0; round < 100; round++) write(store, 'things', 'a', 100_000);
    expect(keptOf(store, 'things')).toBeGreaterThan(5);
    expect(keptOf(store, 'things')).toBeLessThan(12);
    expect(store.collection('things').historyBytes).toBeLessThan(1_000_000);
  });

  it('of those who write little stays when others write much', () => {
    const store = storeOf(1_000_000);
    for (let round = 0; round < 50; round++) write(store, 'small', 'a', 10);
    for (let round = 0; round < 100; round++) write(store, 'large', 'a', 100_000);
    expect(keptOf(store, 'small')).toBe(50);
  });

  it('counts nothing that it has dropped', () => {
    const history = new History(2, 0);
    const store = storeOf(1e9);
    store.collection('things').subscribe((change) => history.push(change));
    for (let round = 0; round < 10; round++) write(store, 'things', 'a', 1_000);
    const two = history.bytes;
    for (let round = 0; round < 10; round++) write(store, 'things', 'a', 1_000);
    expect(history.bytes).toBe(two);
    history.clear(store.resourceVersion);
    expect(history.bytes).toBe(0);
    history.dropOldest();
    expect(history.bytes).toBe(0);
  });

  it('that is gone is told to a watch, which lists again', async () => {
    const client = new ApiClient({ historyLimitBytes: 1_000_000 });
    const { metadata } = await client.mustCreate(configMapsPath, configMapManifest('a', { text: 'x'.repeat(300_000) }));
    for (let round = 0; round < 10; round++) {
      await client.patch(`${configMapsPath}/a`, 'merge', { metadata: { labels: { round: String(round) } } });
    }
    const gone = await client.get(`${configMapsPath}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    expect(gone).toMatchObject({ status: 410, body: { reason: 'Expired' } });
  });
});

describe('a watch that nobody reads', () => {
  it('ends before the objects that wait in it fill the memory', async () => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('a', { text: 'x'.repeat(2_000_000) }));
    const watch = await client.watch(configMapsPath);
    for (let round = 0; round < 60; round++) {
      await client.patch(`${configMapsPath}/a`, 'merge', { metadata: { labels: { round: String(round) } } });
    }
    expect(client.server.openWatches).toBe(0);
    await watch.close();
  });
});
