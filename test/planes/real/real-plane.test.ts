import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { podGroupPath } from '../../../src/api/pod-group.ts';
import { InvalidError } from '../../../src/client/api-errors.ts';
import { kubectlPath } from '../kubectl.ts';
import { poll } from '../poll.ts';
import { kubernetesVersion } from './binaries.ts';
import { planeForSuite } from './plane-for-suite.ts';
import { provideForSuite } from './provide-real-plane.ts';

const programs = await provideForSuite('the real plane itself', ['etcd', 'kube-apiserver']);

describe.skipIf(programs.state === 'missing')('Real plane', () => {
  const plane = planeForSuite(programs);

  it('runs the pinned Kubernetes version', async () => {
    process.stderr.write(`\nreal API server: Kubernetes ${plane().version}\n`);
    expect(plane().version).toBe(kubernetesVersion);
  });

  it('serves and validates PodGroups', async () => {
    const group = (minMember: number): object => ({
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name: 'red' },
      spec: { minMember },
    });
    await expect(plane().client.create(podGroupPath('default'), group(0))).rejects.toThrow(InvalidError);
    await expect(plane().client.create(podGroupPath('default'), group(3))).resolves.toMatchObject({
      spec: { minMember: 3 },
    });
  });

  it('accepts kubectl with its kubeconfig', async () => {
    const { stdout } = await promisify(execFile)(await kubectlPath(), [
      `--kubeconfig=${plane().kubeconfigPath}`,
      ...['auth', 'can-i', '*', '*'],
    ]);
    expect(stdout.trim()).toBe('yes');
  });

  it('has ready nodes for pods once they are added', async () => {
    await plane().addNodes([{ name: 'worker', allocatable: { cpu: '4', memory: '8Gi' } }]);
    const node = await plane().client.get<{ spec: object; status: { allocatable: object } }>('/api/v1/nodes/worker');
    expect(node.spec).toEqual({});
    expect(node.status.allocatable).toEqual({ cpu: '4', memory: '8Gi', pods: '110' });

    const pods = '/api/v1/namespaces/default/pods';
    await plane().client.create(pods, {
      metadata: { name: 'lone' },
      spec: { containers: [{ name: 'main', image: 'main' }] },
    });
    await plane().client.create(`${pods}/lone/binding`, {
      metadata: { name: 'lone' },
      target: { kind: 'Node', name: 'worker' },
    });
    expect(await plane().client.get(`${pods}/lone`)).toMatchObject({ spec: { nodeName: 'worker' } });
  });

  it('keeps its objects while the API server is down', async () => {
    await plane().stopApiServer();
    expect(plane().pid('kube-apiserver')).toBeUndefined();
    await expect(plane().client.get('/api/v1/nodes/worker')).rejects.toThrow();
    await plane().startApiServer();
    expect(await plane().client.get('/api/v1/nodes/worker')).toMatchObject({ metadata: { name: 'worker' } });
  });

  it('removes everything when it stops', async () => {
    const pids = [plane().pid('etcd')!, plane().pid('kube-apiserver')!];
    await plane().stop();
    for (const pid of pids) {
      await poll(async () => (isAlive(pid) ? `process ${pid} lives` : undefined), 'its processes are gone');
    }
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
