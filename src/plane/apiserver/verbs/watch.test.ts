import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import {
  configMapManifest,
  configMapsPath,
  definitionsPath,
  podGroupDefinition,
  podGroupManifest,
  podGroupsPath,
  podManifest,
  podsPath,
} from '../testing/manifests.ts';

const minuteMs = 60_000;

describe('watch', () => {
  it('begins with all existing objects if the request has no resource version', async () => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('a'));
    const watch = await client.watch(`${configMapsPath}?watch=true`);
    await client.mustCreate(configMapsPath, configMapManifest('b'));
    expect(await watch.nextNames(2)).toEqual(['ADDED a', 'ADDED b']);
  });

  it('replays the changes after a resource version, then sends new ones', async () => {
    const client = new ApiClient();
    const first = await client.mustCreate(configMapsPath, configMapManifest('a'));
    await client.patch(`${configMapsPath}/a`, 'merge', { data: { x: 'y' } });
    await client.delete(`${configMapsPath}/a`);
    const watch = await client.watch(`${configMapsPath}?watch=1&resourceVersion=${first.metadata.resourceVersion}`);
    await client.mustCreate(configMapsPath, configMapManifest('b'));
    expect(await watch.nextNames(3)).toEqual(['MODIFIED a', 'DELETED a', 'ADDED b']);
  });

  it('sends the resource version of the deletion with a deleted object', async () => {
    const client = new ApiClient();
    const created = await client.mustCreate(configMapsPath, configMapManifest('a', { x: 'y' }));
    const watch = await client.watch(
      `${configMapsPath}?watch=true&resourceVersion=${created.metadata.resourceVersion}`,
    );
    await client.delete(`${configMapsPath}/a`);
    const event = await watch.next();
    expect(event?.object).toMatchObject({ kind: 'ConfigMap', data: { x: 'y' } });
    expect(event?.object.metadata.resourceVersion).toBe(String(client.server.resourceVersion));
  });

  it('returns 410 for a version older than its history, and 504 for a future version', async () => {
    const client = new ApiClient({ historyLimit: 2 });
    const first = await client.mustCreate(configMapsPath, configMapManifest('a'));
    for (const name of ['b', 'c', 'd']) await client.mustCreate(configMapsPath, configMapManifest(name));
    const old = await client.get(`${configMapsPath}?watch=true&resourceVersion=${first.metadata.resourceVersion}`);
    expect(old.status).toBe(410);
    expect(old.body.reason).toBe('Expired');
    expect((await client.get(`${configMapsPath}?watch=true&resourceVersion=99999`)).status).toBe(504);
  });

  it('reports objects that enter or leave the selection as added or deleted', async () => {
    const client = new ApiClient();
    const watch = await client.watch(`${configMapsPath}?watch=true&labelSelector=team%3Dred`);
    await client.mustCreate(configMapsPath, configMapManifest('a', { v: '1' }, { labels: { team: 'blue' } }));
    await client.patch(`${configMapsPath}/a`, 'merge', { metadata: { labels: { team: 'red' } } });
    await client.patch(`${configMapsPath}/a`, 'merge', { data: { v: '2' } });
    const left = await client.patch(`${configMapsPath}/a`, 'merge', { metadata: { labels: { team: 'blue' } } });
    await client.delete(`${configMapsPath}/a`);
    expect(await watch.nextNames(2)).toEqual(['ADDED a', 'MODIFIED a']);
    const gone = await watch.next();
    expect(gone?.type).toBe('DELETED');
    expect(gone?.object.metadata.labels).toEqual({ team: 'red' });
    expect(gone?.object.metadata.resourceVersion).toBe(left.body.metadata.resourceVersion);
    client.server.endWatches();
    expect(await watch.next()).toBeUndefined();
  });

  it('can be limited to a namespace and to a name', async () => {
    const client = new ApiClient();
    const here = await client.watch(`${configMapsPath}?watch=true`);
    const one = await client.watch(`${configMapsPath}?watch=true&fieldSelector=metadata.name%3Db`);
    await client.mustCreate('/api/v1/namespaces/kube-system/configmaps', configMapManifest('elsewhere'));
    await client.mustCreate(configMapsPath, configMapManifest('a'));
    await client.mustCreate(configMapsPath, configMapManifest('b'));
    expect(await here.nextNames(2)).toEqual(['ADDED a', 'ADDED b']);
    expect(await one.nextNames(1)).toEqual(['ADDED b']);
  });

  it('sends a bookmark every minute and at its end, if the client requests them', async () => {
    const client = new ApiClient();
    const query = 'watch=true&timeoutSeconds=90';
    const marked = await client.watch(`${configMapsPath}?${query}&allowWatchBookmarks=true`);
    const plain = await client.watch(`${configMapsPath}?${query}`);
    client.clock.advance(minuteMs);
    await client.mustCreate(podsPath, podManifest('elsewhere'));
    client.clock.advance(minuteMs);
    const first = await marked.next();
    expect(first).toMatchObject({ type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1' } });
    const last = await marked.next();
    expect(last?.type).toBe('BOOKMARK');
    expect(last?.object.metadata.resourceVersion).toBe(String(client.server.resourceVersion));
    expect(Number(last?.object.metadata.resourceVersion)).toBeGreaterThan(
      Number(first?.object.metadata.resourceVersion),
    );
    expect(await marked.next()).toBeUndefined();
    expect(await plain.next()).toBeUndefined();
  });

  it('ends after 30 to 60 minutes if the client sets no timeout', async () => {
    const client = new ApiClient();
    const watch = await client.watch(`${configMapsPath}?watch=true`);
    let ended = false;
    const end = watch.next().then(() => (ended = true));
    client.clock.advance(30 * minuteMs);
    await Promise.resolve();
    expect(ended).toBe(false);
    client.clock.advance(30 * minuteMs);
    await end;
    expect(ended).toBe(true);
  });

  it('streams the initial state and marks its end if sendInitialEvents is set', async () => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('a'));
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await client.watch(`${configMapsPath}?${query}`);
    expect(await watch.nextNames(1)).toEqual(['ADDED a']);
    const mark = await watch.next();
    expect(mark?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    expect((await client.get(`${configMapsPath}?watch=true&sendInitialEvents=true`)).status).toBe(422);
  });

  it('ends after the pending events if the client does not read', async () => {
    const client = new ApiClient();
    const watch = await client.watch(`${configMapsPath}?watch=true`);
    await client.mustCreate(configMapsPath, configMapManifest('a'));
    for (let round = 0; round < 10_001; round++) {
      await client.patch(`${configMapsPath}/a`, 'merge', { data: { round: String(round) } });
    }
    let events = 0;
    while ((await watch.next()) !== undefined) events++;
    expect(events).toBe(10_000);
  });

  it('ends when the client aborts the signal or calls return', async () => {
    const client = new ApiClient();
    const controller = new AbortController();
    const aborted = await client.watch(`${configMapsPath}?watch=true`, controller.signal);
    const pending = aborted.next();
    controller.abort(new Error('enough'));
    await expect(pending).rejects.toThrow('enough');
    const returned = await client.watch(`${configMapsPath}?watch=true`);
    await returned.close();
    expect(await returned.next()).toBeUndefined();
  });

  it('ends when the CRD of its resource is deleted', async () => {
    const client = new ApiClient();
    await client.mustCreate(definitionsPath, podGroupDefinition());
    await client.mustCreate(podGroupsPath, podGroupManifest('red'));
    const watch = await client.watch(`${podGroupsPath}?watch=true`);
    const other = await client.watch(`${configMapsPath}?watch=true`);
    await client.delete(`${definitionsPath}/podgroups.scheduling.x-k8s.io`);
    client.clock.advance(0);
    expect(await watch.nextNames(3)).toEqual(['ADDED red', 'DELETED red', 'END']);
    await client.mustCreate(configMapsPath, configMapManifest('a'));
    expect(await other.nextNames(1)).toEqual(['ADDED a']);
  });

  it('sends tables if the client requests them', async () => {
    const client = new ApiClient();
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const table = await client.watch(`${podsPath}?watch=true`, undefined, accept);
    await client.mustCreate(podsPath, podManifest('p'));
    const row = await table.next();
    expect(row?.object).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
    expect(row?.object.rows[0].cells.slice(0, 5)).toEqual(['p', '0/1', 'Pending', '0', '0s']);
    expect(row?.object.rows[0].object.metadata.name).toBe('p');
  });

  it('ends all watches when the server closes', async () => {
    const client = new ApiClient();
    const watch = await client.watch(`${configMapsPath}?watch=true`);
    const end = watch.next();
    client.server.close();
    expect(await end).toBeUndefined();
    await expect(client.get(configMapsPath)).rejects.toThrow('closed');
    expect(client.clock.untilNextTimer()).toBeUndefined();
  });
});
