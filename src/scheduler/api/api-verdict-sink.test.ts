import { afterAll, beforeAll, expect, it } from 'vitest';
import { openEmbeddedPlane } from '../../../test/planes/embedded.ts';
import type { TestPlane } from '../../../test/planes/plane.ts';
import { PodProjector } from '../../api/pod-projector.ts';
import type { Pod, RawPod } from '../../api/pod.ts';
import { ResourceNames } from '../../api/resource-names.ts';
import { systemClock } from '../../base/system-clock.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { PodVerdict } from '../ports.ts';
import { ApiVerdictSink } from './api-verdict-sink.ts';

const podsPath = '/api/v1/namespaces/default/pods';
const doesNotFit: Verdict = { reason: 'Unschedulable', message: 'does not fit', waitsFor: 'capacity' };
const projector = new PodProjector(new ResourceNames());

let plane: TestPlane;
let sink: ApiVerdictSink;

beforeAll(async () => {
  plane = await openEmbeddedPlane();
  const spec = { schedulerName: 'tutti', containers: [{ name: 'main', image: 'busybox' }] };
  await plane.client.create(podsPath, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec });
  sink = new ApiVerdictSink({ client: plane.client, clock: systemClock, random: Math.random });
});

afterAll(() => plane.stop());

async function stored(): Promise<Pod> {
  return projector.project(await plane.client.get(`${podsPath}/x`));
}

async function write(more: Partial<PodVerdict>): Promise<Pod> {
  const urgency = { isFirst: true, since: systemClock.monotonic() };
  const verdict = { ...doesNotFit, ...more };
  expect(await sink.write(await stored(), verdict, urgency, new AbortController().signal)).toBe('written');
  return stored();
}

it('writes and clears the nomination in the patch of the verdict, and otherwise leaves it alone', async () => {
  const nominated = await write({ nominatedNodeName: 'node-1' });
  expect(nominated).toMatchObject({ nominatedNodeName: 'node-1', podScheduled: { message: 'does not fit' } });
  expect((await write({})).nominatedNodeName).toBe('node-1');
  expect((await write({ nominatedNodeName: '' })).nominatedNodeName).toBe('');
});

it('writes and removes the predicted start in the patch of the verdict', async () => {
  const predictedStart = { at: Date.UTC(2026, 0, 1, 12), confidence: 'Declared' } as const;
  const predicted = await write({ predictedStart });
  expect(predicted).toMatchObject({ predictedStart, podScheduled: { message: 'does not fit' } });
  expect((await write({ predictedStart: { confidence: 'Draining' } })).predictedStart).toEqual({
    confidence: 'Draining',
  });
  await write({});
  const { status } = await plane.client.get<RawPod>(`${podsPath}/x`);
  expect(status!.conditions!.map(({ type }) => type)).toEqual(['PodScheduled']);
});
