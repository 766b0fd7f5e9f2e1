import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbeddedPlane } from '../../planes/embedded.ts';
import { kubectlPath, kubectlVersions } from '../../planes/kubectl.ts';
import type { TestPlane } from '../../planes/plane.ts';
import { Kubectl } from './kubectl-command.ts';
import { hasKubectl } from './recorded-session.ts';

/** arguments of kubectl -> its output */
const commands: readonly (readonly [words: string, expected: string])[] = [
  ['create namespace team', 'namespace/team created'],
  ['create configmap settings --from-literal=a=1', 'configmap/settings created'],
  ['create serviceaccount robot', 'serviceaccount/robot created'],
  ['create service clusterip web --tcp=80:8080', 'service/web created'],
  ['create job once --image=busybox:1.36 -- sleep 1', 'job.batch/once created'],
  ['create deployment site --image=nginx:1 --replicas=2', 'deployment.apps/site created'],
  ['create priorityclass high --value=7', 'priorityclass.scheduling.k8s.io/high created'],
  ['create poddisruptionbudget few --selector=a=b --min-available=1', 'poddisruptionbudget.policy/few created'],
  ['run lone --image=nginx:1 --port=80', 'pod/lone created'],
  ['expose pod lone --name=front', 'service/front exposed'],
  ['label job once team=blue', 'job.batch/once labeled'],
  ['delete job once', 'job.batch "once" deleted'],
];

/** Kinds that are not served: the error names the object that kubectl tried to create. */
const rejected: readonly (readonly [words: string, expected: RegExp])[] = [
  [
    'create cronjob nightly --image=busybox:1.36 --schedule=@daily',
    /^error: failed to create cronjob: the server could not find the requested resource/,
  ],
  [
    'create quota few --hard=pods=1',
    /^error: failed to create quota: the server could not find the requested resource/,
  ],
  ['create job again --from=cronjob/nightly', /doesn't have a resource type "cronjob"/],
  [
    'create job Bad_Name --image=busybox:1.36',
    /The Job "Bad_Name" is invalid: .*metadata\.name|error: failed to create job: Job.batch "Bad_Name" is invalid: .*metadata\.name/s,
  ],
];

describe.runIf(hasKubectl).each(kubectlVersions)('kubectl %s generators', (version) => {
  let plane: TestPlane;
  let folder: string;
  let kubectl: Kubectl;

  beforeAll(async () => {
    plane = await openEmbeddedPlane();
    folder = await mkdtemp(join(tmpdir(), 'tutti-generators-'));
    kubectl = new Kubectl(await kubectlPath(version), plane.kubeconfigPath, folder);
  });

  afterAll(async () => {
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(commands)('%s', async (words, expected) => {
    expect((await kubectl.ok(words)).trimEnd()).toBe(expected);
  });

  it.each(rejected)('%s is rejected', async (words, expected) => {
    expect(await kubectl.fails(words)).toMatch(expected);
  });

  it('create the objects as specified', async () => {
    await kubectl.ok('create job twice --image=busybox:1.36 -- sleep 5');
    const job = JSON.parse(await kubectl.ok('get job twice -o json')) as { spec: any };
    expect(job.spec).toMatchObject({ completions: 1, parallelism: 1, backoffLimit: 6, completionMode: 'NonIndexed' });
    expect(job.spec.template.spec.containers[0]).toMatchObject({ name: 'twice', command: ['sleep', '5'] });
    expect(await kubectl.ok('describe job twice')).toMatch(/^Parallelism: +1$/m);
    expect(await kubectl.ok('get jobs')).toMatch(/^twice +Running +0\/1/m);
  });
});
