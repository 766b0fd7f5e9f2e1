import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nativePodGroupPath } from '../../src/api/native-pod-group.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { KubeClient } from '../../src/client/kube-client.ts';
import { HttpTransport } from '../../src/client/http/http-transport.ts';
import { ApiProxy, statusAnswer } from '../planes/api-proxy.ts';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import type { EmbeddedPlane } from '../planes/embedded.ts';
import { poll } from '../planes/poll.ts';
import { Recording } from './recording.ts';
import type { WatchedObject } from './watched.ts';

const path = '/api/v1/namespaces';

describe('Recording', () => {
  let plane: EmbeddedPlane;
  let proxy: ApiProxy;
  let transport: HttpTransport;
  let recording: Recording<WatchedObject>;
  let notifications = 0;

  beforeEach(async () => {
    plane = await openEmbeddedPlane();
    proxy = await ApiProxy.open(plane.transport);
    transport = new HttpTransport({ endpoint: proxy.endpoint });
    recording = await Recording.open(new KubeClient({ transport, clock: systemClock }), path, () => notifications++);
  });

  afterEach(async () => {
    await recording.close();
    await transport.close();
    await proxy.cut();
    await plane.stop();
  });

  const create = (name: string): Promise<unknown> =>
    plane.client.create(path, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const until = (what: string, holds: () => boolean): Promise<void> =>
    poll(() => Promise.resolve(holds() ? undefined : `${recording.changes.length} changes`), what);
  const added = (): string[] =>
    recording.changes.filter(({ type }) => type === 'ADDED').map(({ object }) => object.metadata.name);

  it('begins with the existing objects and records every change once, even if connections break', async () => {
    expect(recording.current.has('default')).toBe(true);
    await create('one');
    await until('the first change', () => added().length === 1);
    await proxy.cut();
    await create('two');
    await create('three');
    await proxy.restore();
    await until('the missed changes', () => added().includes('three'));
    expect(added()).toEqual(['one', 'two', 'three']);
    expect(recording.failure).toBeUndefined();
  });

  it('continues when a collection that may be absent is served again', async () => {
    const all = nativePodGroupPath('v1beta1');
    const client = new KubeClient({ transport, clock: systemClock });
    const groups = await Recording.open(client, all, () => undefined, { mayBeAbsent: true });
    let requests = 0;
    proxy.fault = ({ path: requested }) => {
      if (requested.startsWith(all)) requests++;
      return undefined;
    };
    plane.server.serveNativeGangs('none');
    await until('it notices the absence', () => requests > 1);
    plane.server.serveNativeGangs('v1beta1');
    const group = { metadata: { name: 'late' }, spec: { schedulingPolicy: { basic: {} } } };
    await plane.client.create(nativePodGroupPath('v1beta1', 'default'), group);
    await until('the group is recorded', () => groups.current.has('default/late'));
    expect(groups.changes).toHaveLength(1);
    expect(groups.failure).toBeUndefined();
    await groups.close();
  });

  it('fails once the server has forgotten its resource version', async () => {
    proxy.fault = () => statusAnswer(410, 'Expired', 'too old resource version');
    const before = notifications;
    await proxy.cut();
    await proxy.restore();
    await until('the gap is reported', () => recording.failure !== undefined);
    expect(recording.failure).toHaveProperty('message', `the record of ${path} has a gap`);
    expect(notifications).toBeGreaterThan(before);
  });
});
