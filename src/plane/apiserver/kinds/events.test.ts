import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';

const core = '/api/v1/namespaces/default/events';
const modern = '/apis/events.k8s.io/v1/namespaces/default/events';
const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p', uid: 'u1', apiVersion: 'v1' };

const coreEvent = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e1' },
  involvedObject,
  reason: 'FailedScheduling',
  message: 'no free capacity',
  type: 'Warning',
  source: { component: 'tutti' },
  count: 3,
  firstTimestamp: '2025-12-31T23:50:00Z',
  lastTimestamp: '2025-12-31T23:59:00Z',
};

describe('Events', () => {
  it('are stored once and served in both API groups', async () => {
    const client = new ApiClient();
    await client.mustCreate(core, coreEvent);
    const asModern = (await client.get(`${modern}/e1`)).body;
    expect(asModern).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: involvedObject,
      note: 'no free capacity',
      deprecatedCount: 3,
      deprecatedSource: { component: 'tutti' },
      deprecatedLastTimestamp: '2025-12-31T23:59:00Z',
    });
    expect(asModern).not.toHaveProperty('involvedObject');

    await client.mustCreate(modern, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e2' },
      regarding: involvedObject,
      note: 'bound',
      reason: 'Scheduled',
      type: 'Normal',
      action: 'Binding',
      eventTime: '2026-01-01T00:00:00.000001Z',
      reportingController: 'tutti-scheduler',
      reportingInstance: 'tutti-0',
    });
    expect((await client.get(`${core}/e2`)).body).toMatchObject({
      apiVersion: 'v1',
      involvedObject,
      message: 'bound',
      reportingComponent: 'tutti-scheduler',
      eventTime: '2026-01-01T00:00:00.000001Z',
    });
    const watch = await client.watch(`${modern}?watch=true&fieldSelector=regarding.name%3Dp`);
    expect(await watch.nextNames(2)).toEqual(['ADDED e1', 'ADDED e2']);
  });

  it('can be patched through either API group', async () => {
    const client = new ApiClient();
    await client.mustCreate(core, coreEvent);
    const patched = await client.patch(`${modern}/e1`, 'strategic', {
      series: { count: 4, lastObservedTime: '2026-01-01T00:00:00.000000Z' },
    });
    expect(patched.status).toBe(200);
    expect((await client.get(`${core}/e1`)).body).toMatchObject({ message: 'no free capacity', series: { count: 4 } });
  });

  it('can be selected by their involved object, as kubectl describe does', async () => {
    const client = new ApiClient();
    await client.mustCreate(core, coreEvent);
    const selector = encodeURIComponent(
      'involvedObject.name=p,involvedObject.namespace=default,involvedObject.kind=Pod,involvedObject.uid=u1',
    );
    expect((await client.get(`${core}?fieldSelector=${selector}`)).body.items).toHaveLength(1);
    expect((await client.get(`${core}?fieldSelector=involvedObject.name%3Dq`)).body.items).toHaveLength(0);
  });

  it('must be in the namespace of their involved object', async () => {
    const event = { ...coreEvent, involvedObject: { ...involvedObject, namespace: 'kube-system' } };
    expect((await new ApiClient().create(core, event)).status).toBe(422);
  });

  it('expire an hour after their last write', async () => {
    const client = new ApiClient();
    await client.mustCreate(core, coreEvent);
    await client.mustCreate(core, { ...coreEvent, metadata: { name: 'e2' } });
    const watch = await client.watch(`${core}?watch=true&resourceVersion=${client.server.resourceVersion}`);
    client.clock.advance(30 * 60 * 1000);
    await client.patch(`${core}/e2`, 'merge', { count: 4 });
    client.clock.advance(30 * 60 * 1000);
    expect((await client.get(core)).body.items.map((item: any) => item.metadata.name)).toEqual(['e2']);
    client.clock.advance(30 * 60 * 1000);
    expect((await client.get(core)).body.items).toEqual([]);
    expect(await watch.nextNames(1)).toEqual(['MODIFIED e2']);
  });

  it('have the columns of kubectl get events', async () => {
    const client = new ApiClient();
    await client.mustCreate(core, coreEvent);
    const { columnDefinitions, rows } = (await client.get(core, 'application/json;as=Table;v=v1;g=meta.k8s.io')).body;
    const shown = Object.fromEntries(
      columnDefinitions.map((each: any, index: number) => [each.name, rows[0].cells[index]]),
    );
    expect(shown).toMatchObject({
      'Last Seen': '60s',
      Type: 'Warning',
      Reason: 'FailedScheduling',
      Object: 'pod/p',
      Message: 'no free capacity',
      Source: 'tutti',
      Name: 'e1',
    });
  });
});
