import { expect, it } from 'vitest';
import { projectCsiStorageCapacity } from '../../api/csi-storage-capacity.ts';
import { projectPersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import { volumeScore } from './volume-score.ts';

const emptyFirst = [
  { utilization: 0, score: 10 },
  { utilization: 100, score: 0 },
];

it('counts claims to provision by the class in their spec, as kube-scheduler does, also when an annotation overrides it', () => {
  const claim = (name: string, storageClassName: string, storage: string) =>
    projectPersistentVolumeClaim({
      metadata: { name, namespace: 'default', annotations: { 'volume.beta.kubernetes.io/storage-class': 'fast' } },
      spec: { storageClassName, resources: { requests: { storage } } },
    });
  const capacity = projectCsiStorageCapacity({
    metadata: { name: 'fast', namespace: 'kube-system' },
    storageClassName: 'fast',
    capacity: '8Gi',
  });
  const score = (first: string, second: string): number =>
    volumeScore(
      {
        bindings: [],
        provisions: [
          { claim: claim('a', first, '2Gi'), capacity },
          { claim: claim('b', second, '2Gi'), capacity },
        ],
      },
      emptyFirst,
    );
  expect(score('fast', 'fast')).toBe(50);
  expect(score('', 'fast')).toBe(75);
});
