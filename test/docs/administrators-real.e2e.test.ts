import { afterAll, beforeAll, describe, it } from 'vitest';
import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../planes/real/real-plane.ts';
import { claimBlocks } from './block-claims.ts';
import { PageStage } from './page-stage.ts';

const rollout = claimBlocks('docs/install.md', 'console', 'With Helm');
const drain = claimBlocks('docs/tasks/administrators/drain.md', 'console');
const manifests = claimBlocks('docs/tasks/administrators/drain.md', 'yaml');

const programs = await provideForSuite('the pages for administrators about pods', [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kwok',
]);

/** Tests that need pods of Deployments and Jobs, which kwok runs. */
describe.skipIf(programs.state === 'missing')('Pages for administrators on a real plane', () => {
  let stage: PageStage;

  beforeAll(async () => {
    if (programs.state === 'missing') return;
    const plane = await openRealPlane({ paths: programs.paths, controllerManager: true, kwok: true });
    stage = await PageStage.open(plane, { kwok: true });
    await plane.startPeer('kube-scheduler', { schedulerName: 'default-scheduler', qps: 50, burst: 100 });
    await stage.removeDefinition();
    await stage.addNodes('node-1', 'node-2');
  });

  afterAll(() => stage?.close());

  it('docs/install.md up to the running scheduler', async () => {
    await stage.play(rollout);
    const scheduler = await stage.release().run('scheduler', '3.17');
    await scheduler.said(/"message":"scheduling"/);
  });

  it('drain.md', async () => {
    const [budget, draining, after] = drain;
    await stage.write(manifests);
    await createJob('train', 2);
    await stage.bound('train', 2);
    await stage.prints('kubectl get pods', /(?:Running.*){2}/s);
    await stage.play([budget!]);
    await stage.prints('kubectl get poddisruptionbudget train', / 0 +\d+s/);
    await stage.play([draining!]);
    // The pod that the Job created to replace the evicted one.
    await stage.prints(`kubectl get pods --output wide`, /(?:Running.*node-2.*){2}/s);
    await stage.play([after!]);
  });

  /** Creates a Job with one member per node. */
  async function createJob(name: string, size: number): Promise<void> {
    const { client } = stage.plane;
    await client.create(podGroupPath('default'), {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name },
      spec: { minMember: size },
    });
    const labels = { [podGroupLabel]: name };
    await client.create('/apis/batch/v1/namespaces/default/jobs', {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name },
      spec: {
        parallelism: size,
        completions: size,
        backoffLimit: 10,
        template: {
          // Longer than this test; kwok finishes the pods of Jobs.
          metadata: { labels, annotations: { 'tutti-tests/run-duration': '1h' } },
          spec: {
            schedulerName: 'tutti',
            restartPolicy: 'Never',
            containers: [{ name: 'main', image: 'train:1', resources: { requests: { cpu: '800m' } } }],
          },
        },
      },
    });
  }
});
