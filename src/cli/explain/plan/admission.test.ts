import { describe, expect, it } from 'vitest';
import { BadRequestError, ForbiddenError } from '../../../client/api-errors.ts';
import type { KubeClient } from '../../../client/kube-client.ts';
import { ListedCluster } from '../../../compose/cluster-state/testing/listed-cluster.ts';
import { parseManifests } from '../../manifests/parse-manifests.ts';
import { admitObjects } from './admission.ts';
import type { Admitted } from './admission.ts';
import { plannedObjects } from './planned-objects.ts';

const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
const container = { name: 'main', resources: { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1' } } };
const pod = { containers: [container], priorityClassName: 'high' };
const job = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'red' },
  spec: { parallelism: 3, template: { metadata: { labels: { app: 'red' } }, spec: pod } },
};

/** Admits the Job through an API server that answers so. Also returns the paths of the creations. */
async function admit(
  create: (path: string, object: object) => object,
  { isLocal = false, cluster = new ListedCluster().set(classes, { metadata: { name: 'high' }, value: 7 }) } = {},
): Promise<Admitted & { readonly paths: readonly string[] }> {
  const paths: string[] = [];
  const client = {
    get: cluster.get.bind(cluster),
    list: cluster.list.bind(cluster),
    create: (path: string, object: object) => {
      paths.push(path.split('?')[0]!);
      expect(path).toContain('?dryRun=All&');
      return Promise.resolve().then(() => create(path, object));
    },
  } as unknown as KubeClient;
  const { objects } = plannedObjects(parseManifests('job.yaml', JSON.stringify(job)).manifests, 'ml');
  const { signal } = new AbortController();
  return { ...(await admitObjects(objects, { client, signal, isLocal })), paths };
}

function forbidden(message: string): never {
  throw new ForbiddenError(message, { status: 403, reason: 'Forbidden', request: '', causes: [] });
}

describe('the admission of planned objects', () => {
  it('takes over what the API server sets in one pod of a workload, for all of its pods', async () => {
    const { objects, admission, paths } = await admit((_, object) => {
      const { spec } = object as { readonly spec: object };
      return { ...object, spec: { ...spec, priority: 9 } };
    });
    expect(paths).toEqual(['/apis/batch/v1/namespaces/ml/jobs', '/api/v1/namespaces/ml/pods']);
    expect(objects[0]!.pods.map(({ metadata, spec }) => [metadata.name, spec.priority])).toEqual([
      ['red-0', 9],
      ['red-1', 9],
      ['red-2', 9],
    ]);
    expect(admission).toBe('dryRun');
  });

  it('reports an exceeded ResourceQuota as a rejection of the object', async () => {
    const message = 'pods "red-x" is forbidden: exceeded quota: few, requested: pods=1, used: pods=4, limited: pods=4';
    const { objects, rejected, notes } = await admit((path, object) =>
      path.includes('/pods') ? forbidden(message) : object,
    );
    expect(objects).toEqual([]);
    expect(rejected).toEqual([{ part: 'job.yaml, document 1: Job ml/red', message }]);
    expect(notes).toEqual([]);
  });

  it.each([
    [
      'the caller may not create the objects',
      (): never =>
        forbidden(
          'jobs.batch is forbidden: User "jane" cannot create resource "jobs" in API group "batch" in the namespace "ml"',
        ),
      'user "jane" may not create jobs.batch; the role "edit" in the namespace allows it',
    ],
    [
      'a webhook takes no dry run',
      (): never => {
        throw new BadRequestError('admission webhook "w" does not support dry run', {
          ...{ status: 400, reason: 'BadRequest', request: '', causes: [] },
        });
      },
      'admission webhook "w" does not support dry run',
    ],
  ])('WI12: resolves priority and default requests itself if %s', async (_, create, message) => {
    const { objects, admission, notes } = await admit(create);
    const { spec } = objects[0]!.pods[2]!;
    expect(spec).toMatchObject({ priority: 7, containers: [{ resources: { requests: { cpu: '1', memory: '1Gi' } } }] });
    expect(admission).toBe('local');
    expect(notes).toEqual([{ part: 'admission of jobs', message }]);
  });

  it('sends nothing if the user wants that', async () => {
    const { objects, admission, paths, notes } = await admit(() => forbidden(''), { isLocal: true });
    expect([objects.length, admission, paths, notes]).toEqual([1, 'local', [], []]);
  });

  it('assumes priority 0 and says so if the caller may not list PriorityClasses', async () => {
    const cluster = new ListedCluster().forbid(classes);
    const { objects, notes } = await admit(() => forbidden(''), { isLocal: true, cluster });
    expect(objects[0]!.pods[0]!.spec.priority).toBe(0);
    expect(notes).toMatchObject([{ part: 'priorityclasses.scheduling.k8s.io' }]);
  });

  it('rejects an object whose PriorityClass does not exist', async () => {
    const cluster = new ListedCluster().set(classes);
    const { objects, rejected } = await admit(() => forbidden(''), { isLocal: true, cluster });
    expect(objects).toEqual([]);
    expect(rejected[0]!.message).toBe('there is no PriorityClass named high');
  });
});
