import { expect, test } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { InProcessTransport } from '../apiserver/in-process-transport.ts';
import { SimulatedVolumes, simulatedProvisioner } from './simulated-volumes.ts';
import { startPlane } from './testing/simulated-plane.ts';

test('a claim and its volume show their capacity in binary units', async () => {
  await using here = await startPlane();
  const volumes = new SimulatedVolumes({
    transport: new InProcessTransport(here.server),
    clock: here.clock,
    random: seededRandom(3),
    provisioners: [simulatedProvisioner],
  });
  const starting = volumes.start();
  await here.pass(100);
  await starting;
  const metadata = { name: 'a' };
  await here.client.create('/apis/storage.k8s.io/v1/storageclasses', { metadata, provisioner: simulatedProvisioner });
  const spec = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'a',
    resources: { requests: { storage: '1.5Gi' } },
  };
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
  await here.client.create(claims, { metadata, spec });
  await here.pass(1_000);
  const capacity = { storage: '1536Mi' };
  expect(await here.client.get(`${claims}/a`)).toMatchObject({ status: { phase: 'Bound', capacity } });
  expect((await here.client.list('/api/v1/persistentvolumes')).items).toMatchObject([{ spec: { capacity } }]);
  await volumes.stop();
});
