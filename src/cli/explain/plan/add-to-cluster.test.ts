import { expect, it } from 'vitest';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { Scheduling } from '../../../testkit/scheduling.ts';
import { parseManifests } from '../../manifests/parse-manifests.ts';
import { addToCluster } from './add-to-cluster.ts';
import { plannedObjects } from './planned-objects.ts';
import { podsOfObject } from './pods-of-object.ts';

it('adds a pod that was copied from a cluster as a new one', () => {
  const { core } = new Scheduling({ plugins: defaultPlugins }, 'listing').harness;
  const metadata = {
    name: 'x',
    uid: 'old',
    resourceVersion: '7',
    creationTimestamp: '2020-01-01T00:00:00Z',
    deletionTimestamp: '2020-01-02T00:00:00Z',
  };
  const spec = { schedulerName: 'default-scheduler', nodeName: 'gone', containers: [{ name: 'main', image: 'x' }] };
  const file = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec, status: { phase: 'Failed' } });
  const [planned] = plannedObjects(parseManifests('x.yaml', file).manifests, 'default').objects;
  const admitted = { planned: planned!, object: planned!.object, pods: podsOfObject(planned!, planned!.object) };
  const { pods, errors } = addToCluster(core, [admitted], 0);
  expect(errors).toEqual([]);
  expect(pods).toMatchObject([{ name: 'x', nodeName: '', phase: 'Pending', deleting: false, creationTimestamp: 0 }]);
});
