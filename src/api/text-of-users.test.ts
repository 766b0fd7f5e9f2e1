import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../base/testing/collect-garbage.ts';
import { maxMessageLength } from '../base/safe-text.ts';
import { projectMemberPod } from '../controller/member-pod.ts';
import { runtimeAnnotation } from './declared-runtime.ts';
import { classAnnotation } from './listed-metadata.ts';
import { projectPersistentVolumeClaim, selectedNodeAnnotation } from './persistent-volume-claim.ts';
import { podGroupLabel } from './pod-group-membership.ts';
import { projectPodGroup } from './pod-group.ts';
import { planAnnotations } from './pod.ts';
import { predictedStartCondition } from './predicted-start.ts';
import { PodProjector } from './pod-projector.ts';
import { ResourceNames } from './resource-names.ts';

/** Text of a user in a field whose length the API does not limit. */
const longText = (seed: number): string => `\u001b[2J\n${seed}${'x'.repeat(200_000)}`;

function metadata(seed: number): object {
  const names = { uid: `uid-${seed}`, namespace: 'default', name: `p-${seed}`, resourceVersion: '1' };
  const annotations = {
    [podGroupLabel]: longText(seed),
    [runtimeAnnotation]: longText(seed),
    [planAnnotations.groupUid]: longText(seed),
    [planAnnotations.plan]: longText(seed),
    [planAnnotations.quorum]: longText(seed),
    [classAnnotation]: longText(seed),
    [selectedNodeAnnotation]: longText(seed),
    'example.com/other': longText(seed),
  };
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    name: longText(seed),
    uid: longText(seed),
    controller: true,
  };
  return { ...names, annotations, ownerReferences: [owner] };
}

function pod(seed: number): object {
  const condition = { status: 'True', reason: longText(seed), message: longText(seed) };
  return {
    metadata: metadata(seed),
    spec: {
      schedulerName: longText(seed),
      containers: [{ name: 'main', image: longText(seed) }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: longText(seed) } }],
    },
    status: {
      phase: 'Failed',
      reason: longText(seed),
      message: longText(seed),
      conditions: [
        { ...condition, type: 'PodScheduled', status: 'False' },
        { ...condition, type: 'DisruptionTarget' },
        { ...condition, type: predictedStartCondition, reason: 'Declared' },
      ],
    },
  };
}

const projector = new PodProjector(new ResourceNames());
const projections: readonly (readonly [string, (seed: number) => unknown])[] = [
  ['a pod', (seed) => projector.project(pod(seed))],
  ['a member of a group', (seed) => projectMemberPod(pod(seed))],
  [
    'a PodGroup',
    (seed) => {
      const spec = { minResources: { [longText(seed)]: '1' } };
      const group = projectPodGroup({ metadata: metadata(seed), spec });
      return { ...group, minResources: [...group.minResources!.keys()] };
    },
  ],
  [
    'a claim',
    (seed) => projectPersistentVolumeClaim({ metadata: metadata(seed), spec: { volumeName: longText(seed) } }),
  ],
];

describe.each(projections)('the projection of %s', (_what, project) => {
  it('keeps little of the text of users', () => {
    const text = JSON.stringify(project(1));
    expect(text.length).toBeLessThan(5 * maxMessageLength);
    expect(text).toContain('…');
  });

  it('keeps no reference to the whole text', async () => {
    const count = 100;
    const before = process.memoryUsage().heapUsed;
    const kept = Array.from({ length: count }, (_, seed) => project(seed));
    await collectGarbage(() => process.memoryUsage().heapUsed - before < count * 50_000);
    expect(kept).toHaveLength(count);
  });
});
