import {
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  PatchStrategy,
  makeInformer,
  setHeaderOptions,
} from '@kubernetes/client-node';
import type { V1Pod } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { poll } from '../../planes/poll.ts';
import { podGroup, worker } from './manifests.ts';
import { describeSession } from './recorded-session.ts';

const namespace = 'default';
const podGroups = { group: 'scheduling.x-k8s.io', version: 'v1alpha1', namespace, plural: 'podgroups' };

describeSession(
  'client-node',
  (session) => {
    const config = (): KubeConfig => {
      const loaded = new KubeConfig();
      loaded.loadFromFile(session().plane.kubeconfigPath);
      return loaded;
    };

    it('creates a gang and follows it with an informer until it runs', async () => {
      const core = config().makeApiClient(CoreV1Api);
      const custom = config().makeApiClient(CustomObjectsApi);
      const informer = makeInformer<V1Pod>(config(), `/api/v1/namespaces/${namespace}/pods`, () =>
        core.listNamespacedPod({ namespace }),
      );
      /** pod name -> phase */
      const phases = new Map<string, string>();
      const see = (pod: V1Pod): void => void phases.set(pod.metadata?.name ?? '', pod.status?.phase ?? '');
      informer.on('add', see);
      informer.on('update', see);
      informer.on('delete', (pod) => void phases.delete(pod.metadata?.name ?? ''));
      await informer.start();
      try {
        await custom.createNamespacedCustomObject({ ...podGroups, body: podGroup('duo', 2) });
        for (const name of ['duo-0', 'duo-1']) {
          await core.createNamespacedPod({ namespace, body: worker(name, 'duo') });
        }
        const seen = async (): Promise<string | undefined> =>
          ['duo-0', 'duo-1'].every((name) => phases.get(name) === 'Running') ? undefined : JSON.stringify([...phases]);
        await poll(seen, 'both members run');
        await core.deleteNamespacedPod({ name: 'duo-1', namespace });
        await poll(async () => (phases.has('duo-1') ? 'it still exists' : undefined), 'duo-1 is gone');
      } finally {
        await informer.stop();
      }
    });

    it('reads, patches and deletes', async () => {
      const core = config().makeApiClient(CoreV1Api);
      const custom = config().makeApiClient(CustomObjectsApi);
      const duo = { ...podGroups, name: 'duo' };
      expect(await custom.getNamespacedCustomObject(duo)).toMatchObject({ spec: { minMember: 2 } });
      const patched: unknown = await custom.patchNamespacedCustomObject(
        { ...duo, body: { spec: { minMember: 1 } } },
        setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
      );
      expect(patched).toMatchObject({ spec: { minMember: 1 } });
      await core.patchNamespacedPod(
        { name: 'duo-0', namespace, body: { metadata: { labels: { tier: 'gold' } } } },
        setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
      );
      const { items } = await core.listPodForAllNamespaces({ labelSelector: 'tier=gold' });
      expect(items.map((pod) => pod.metadata?.name)).toEqual(['duo-0']);
      expect((await core.listNode()).items).toHaveLength(2);
      await custom.deleteNamespacedCustomObject(duo);
      await expect(custom.getNamespacedCustomObject(duo)).rejects.toMatchObject({ code: 404 });
      await core.deleteNamespacedPod({ namespace, name: 'duo-0' });
    });
  },
  ['1.31'],
);
