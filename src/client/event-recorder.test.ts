import { Buffer } from 'node:buffer';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answerJson, answerStatus, MisbehavingServer, resetsConnection } from '../../test/planes/misbehaving-server.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { fixedEndpoint } from './endpoint.ts';
import { cutToBytes, EventRecorder } from './event-recorder.ts';
import type { EventToRecord } from './event-recorder.ts';
import { KubeClient } from './kube-client.ts';
import { UndiciTransport } from './undici-transport.ts';

let server: MisbehavingServer;
let transport: UndiciTransport;
let clock: VirtualClock;
let recorder: EventRecorder;

beforeEach(async () => {
  server = await MisbehavingServer.start();
  server.otherwise(answerJson({}, 201));
  transport = new UndiciTransport({ endpoint: fixedEndpoint(server.url) });
  clock = new VirtualClock();
  recorder = new EventRecorder({
    client: new KubeClient({ transport, clock }),
    clock,
    reportingController: 'tutti-scheduler',
    reportingInstance: 'host-1',
    queueLimit: 3,
  });
});

afterEach(async () => {
  recorder.stop();
  await transport.close();
  await server.close();
});

function podEvent(name = 'a', note = 'no room'): EventToRecord {
  return {
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name, uid: `uid-${name}` },
    type: 'Warning',
    reason: 'FailedScheduling',
    action: 'Scheduling',
    note,
  };
}

test('an Event says what it is about, who reports it, why and when', async () => {
  recorder.record(podEvent());
  await recorder.flushed();
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: '/apis/events.k8s.io/v1/namespaces/default/events',
  });
  const { metadata, ...event } = JSON.parse(server.requests[0]!.body);
  expect(metadata.namespace).toBe('default');
  expect(metadata.name).toMatch(/^a\.[0-9a-f]+$/);
  expect(event).toEqual({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    eventTime: '2026-01-01T00:00:00.000000Z',
    type: 'Warning',
    reason: 'FailedScheduling',
    action: 'Scheduling',
    note: 'no room',
    regarding: podEvent().regarding,
    reportingController: 'tutti-scheduler',
    reportingInstance: 'host-1',
  });
});

test('repeats within the window raise the count of one Event; later ones begin another', async () => {
  recorder.record(podEvent());
  await recorder.flushed();
  clock.advance(60_000);
  for (let repeat = 0; repeat < 5; repeat++) recorder.record(podEvent());
  await recorder.flushed();
  clock.advance(360_001);
  recorder.record(podEvent());
  await recorder.flushed();

  // The first repeat is written at once; those that come while it is on its way share one write.
  expect(server.requests.map((request) => request.method)).toEqual(['POST', 'PATCH', 'PATCH', 'POST']);
  const [created, , patched, again] = server.requests;
  const { name } = JSON.parse(created!.body).metadata;
  expect(patched!.path).toBe(`/apis/events.k8s.io/v1/namespaces/default/events/${name}`);
  expect(JSON.parse(patched!.body)).toEqual({ series: { count: 6, lastObservedTime: '2026-01-01T00:01:00.000000Z' } });
  expect(JSON.parse(again!.body).metadata.name).not.toBe(name);
});

test('another note, or another object, is another Event', async () => {
  recorder.record(podEvent('a', 'one'));
  recorder.record(podEvent('a', 'two'));
  recorder.record(podEvent('b', 'one'));
  await recorder.flushed();
  expect(server.requests.map((request) => request.method)).toEqual(['POST', 'POST', 'POST']);
});

test('a series whose Event is gone is written anew', async () => {
  recorder.record(podEvent());
  await recorder.flushed();
  server.next(answerStatus(404, 'NotFound', 'expired'));
  recorder.record(podEvent());
  await recorder.flushed();
  expect(server.requests.map((request) => request.method)).toEqual(['POST', 'PATCH', 'POST']);
  expect(JSON.parse(server.requests[2]!.body).series.count).toBe(2);
});

test('when too many wait the oldest is dropped and counted', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) recorder.record(podEvent(name));
  await recorder.flushed();
  const written = server.requests.map((request) => JSON.parse(request.body).regarding.name as string);
  expect(written).toEqual(['a', 'd', 'e', 'f']); // a was on its way already
  expect(recorder.dropped).toBe(2);
});

test('a failed write is counted and hurts nobody', async () => {
  server.next(resetsConnection, answerStatus(403, 'Forbidden', 'no'));
  recorder.record(podEvent('a'));
  recorder.record(podEvent('b'));
  recorder.record(podEvent('c'));
  await recorder.flushed();
  expect(recorder.failed).toBe(2);
  expect(server.requests).toHaveLength(3);
});

test('after stop nothing is written', async () => {
  recorder.stop();
  recorder.record(podEvent());
  await recorder.flushed();
  expect(server.requests).toHaveLength(0);
});

test('a note is cut at whole characters', () => {
  expect(cutToBytes('short', 1024)).toBe('short');
  const cut = cutToBytes('ä'.repeat(600), 1024);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1024);
  expect(cut).toBe('ä'.repeat(510) + '...');
});
