import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { podGroupDefinition } from '../../src/api/pod-group-schema.ts';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { NotFoundError } from '../../src/client/api-errors.ts';
import type { TestProcess } from '../../src/cli/testing/test-process.ts';
import { httpsGet } from '../../src/serving/testing/https-get.ts';
import { chartFolder } from '../planes/helm.ts';
import type { HelmVersion } from '../planes/kubectl.ts';
import { hangsMs } from '../planes/patience.ts';
import { poll } from '../planes/poll.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { tokenOf } from '../planes/real/service-accounts.ts';
import { ChartRelease } from './installed-chart.ts';
import { idOf, objectsIn, pathOf } from './rendered-chart.ts';
import type { ChartObject } from './rendered-chart.ts';

const programs = await provideForSuite('the chart', [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kwok',
]);
const versions: readonly HelmVersion[] = ['3.17', '4.1'];
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definition = `${definitions}/podgroups.scheduling.x-k8s.io`;

describe.skipIf(programs.state === 'missing')('The chart on a real API server', () => {
  const plane = planeForSuite(programs, { controllerManager: true, kwok: true });
  const releases: ChartRelease[] = [];

  beforeAll(async () => {
    await plane().addNodes(['n1', 'n2', 'n3'].map((name) => ({ name, allocatable: { cpu: '4', memory: '8Gi' } })));
    await plane().startPeer('kube-scheduler', { schedulerName: 'default-scheduler', qps: 50, burst: 100 });
  });

  afterEach(async () => {
    for (const release of releases.splice(0)) {
      await release.stop();
      await release.uninstall('3.17');
    }
    await removeDefinition();
  });

  function release(name: string, namespace: string): ChartRelease {
    const made = new ChartRelease(plane(), name, namespace);
    releases.push(made);
    return made;
  }

  async function removeDefinition(): Promise<void> {
    const { client } = plane();
    await client.delete(definition).catch((error: unknown) => {
      if (!(error instanceof NotFoundError)) throw error;
    });
    // The API server may look for a minute for objects that are left, and then begins again.
    await poll(() => absent(definition), 'the CRD is gone', 3 * hangsMs);
  }

  async function absent(path: string): Promise<string | undefined> {
    const { client } = plane();
    return client.get(path).then(
      () => `${path} still exists`,
      (error: unknown) => (error instanceof NotFoundError ? undefined : String(error)),
    );
  }

  /** Returns the resourceVersion of each object of a release, by id. */
  async function versionsOf(objects: readonly ChartObject[]): Promise<Readonly<Record<string, string>>> {
    const found = await Promise.all(
      objects.map(async (object) => {
        const { metadata, spec } = await plane().client.get<{
          metadata: { resourceVersion: string; generation?: number };
          spec?: unknown;
        }>(pathOf(object));
        // The status of a Deployment changes on its own.
        return [
          idOf(object),
          object.kind === 'Deployment' ? `${metadata.generation} ${JSON.stringify(spec)}` : metadata.resourceVersion,
        ];
      }),
    );
    return Object.fromEntries(found) as Readonly<Record<string, string>>;
  }

  const noProblem = ({ exitCode, stderr }: { readonly exitCode: number; readonly stderr: string }): void => {
    expect(stderr.replaceAll(/^(I|W|level=)[^\n]*\n/gm, '')).toBe('');
    expect(exitCode).toBe(0);
  };

  async function runGang(name: string, schedulerName: string, size = 2): Promise<void> {
    await plane().client.create(podGroupPath('default'), {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name, namespace: 'default' },
      spec: { minMember: size },
    });
    for (let index = 0; index < size; index++) {
      await plane().client.create('/api/v1/namespaces/default/pods', {
        metadata: { name: `${name}-${index}`, labels: { [podGroupLabel]: name } },
        spec: { schedulerName, containers: [{ name: 'main', image: 'main' }] },
      });
    }
  }

  async function countBound(name: string): Promise<number> {
    const { items } = await plane().client.list('/api/v1/namespaces/default/pods', {
      labelSelector: `${podGroupLabel}=${name}`,
    });
    return (items as { spec: { nodeName?: string } }[]).filter(({ spec }) => spec.nodeName !== undefined).length;
  }

  async function bound(name: string, size = 2): Promise<string | undefined> {
    const count = await countBound(name);
    return count === size ? undefined : `${count} of ${name} are bound`;
  }

  async function removeGang(name: string, size = 2): Promise<void> {
    for (let index = 0; index < size; index++)
      await plane().client.delete(`/api/v1/namespaces/default/pods/${name}-${index}`);
    await plane().client.delete(podGroupPath('default', name));
  }

  async function urlOf(process: TestProcess): Promise<string> {
    return (await process.said(/"url":"(https:[^"]+)"/))[1]!;
  }

  /** Returns the response status for a request with the token. */
  async function metricsFor(url: string, token?: string): Promise<number> {
    return (await httpsGet(`${url}/metrics`, token === undefined ? {} : { token })).status;
  }

  /** Checks access to a process of a release whose metrics.readers is its own `prometheus`. */
  async function expectServing(tutti: ChartRelease, process: TestProcess): Promise<void> {
    const url = await urlOf(process);
    await poll(async () => {
      const { status, text } = await httpsGet(`${url}/readyz`);
      return status === 200 && text === 'ok' ? undefined : `${status} ${text}`;
    }, 'it is ready');
    expect(await metricsFor(url)).toBe(403);
    expect(await metricsFor(url, 'invalid')).toBe(401);
    // The API server may not know the account or its permissions yet.
    const [other, reader] = await Promise.all(
      ['tutti-controller', 'prometheus'].map((account) => tokenOf(plane().client, tutti.namespace, account)),
    );
    await expect.poll(() => metricsFor(url, other)).toBe(403);
    await expect.poll(() => metricsFor(url, reader)).toBe(200);
  }

  /** Creates the `prometheus` ServiceAccount of a release in that namespace. */
  async function addReader(namespace: string): Promise<void> {
    await plane().client.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'prometheus', namespace },
    });
  }

  describe.each(versions)('with Helm %s', (version) => {
    it('CH5 CH18 is installed, runs a gang with exactly its own permissions, and leaves the CRD and the groups when it is uninstalled', async () => {
      await removeDefinition();
      const tutti = release('tutti', `system-${version.replace('.', '-')}`);
      noProblem(await tutti.install(version, {}, '--wait', '--timeout', '60s'));
      const scheduler = await tutti.run('scheduler', version);
      const controller = await tutti.run('controller', version);
      await scheduler.said(/"message":"scheduling"/);
      await controller.said(/"message":"API server reached"/);
      await runGang('red', 'tutti');
      await poll(() => bound('red'), 'the gang is bound');
      await poll(async () => {
        const group = await plane().client.get<{ status?: { phase?: string } }>(podGroupPath('default', 'red'));
        return group.status?.phase === 'Running' ? undefined : JSON.stringify(group.status ?? {});
      }, 'the controller reports Running');
      expect(await tutti.stop()).toEqual([]);
      const objects = await tutti.manifests(version);
      noProblem(await tutti.uninstall(version));
      const gone = objects.filter(({ kind }) => kind !== 'CustomResourceDefinition');
      for (const object of gone) await poll(() => absent(pathOf(object)), 'it is gone');
      await plane().client.get(definition);
      await removeGang('red');
    });

    it('the command of helm test passes with the permissions of helm test', async () => {
      const tutti = release('tutti', `tests-${version.replace('.', '-')}`);
      await removeDefinition();
      noProblem(await tutti.install(version));
      const scheduler = await tutti.run('scheduler', version);
      await scheduler.said(/"message":"scheduling"/);
      const hooks = await tutti.hooks(version);
      for (const object of hooks.filter(({ kind }) => kind !== 'Pod')) {
        await plane().client.create(pathOf(object).replace(/\/[^/]*$/, ''), object);
      }
      const pod = hooks.find(({ kind }) => kind === 'Pod') as unknown as {
        spec: { serviceAccountName: string; containers: { args: string[] }[] };
      };
      const verify = await tutti.start(pod.spec.containers[0]!.args, pod.spec.serviceAccountName);
      const { exitCode } = await verify.ended();
      expect(verify.stdout).toMatch(/^ok .*\nok .*\nok {5}a gang of 2 for tutti was bound to n\d/);
      expect(exitCode).toBe(0);
      for (const object of hooks.filter(({ kind }) => kind !== 'Pod')) await plane().client.delete(pathOf(object));
    });

    it('CH24 a second upgrade changes nothing', async () => {
      await removeDefinition();
      const tutti = release('tutti', `same-${version.replace('.', '-')}`);
      noProblem(await tutti.install(version, { scheduler: { replicaCount: 2 } }, '--wait', '--timeout', '60s'));
      const objects = await tutti.manifests(version);
      const before = await versionsOf(objects);
      noProblem(await tutti.upgrade(version, { scheduler: { replicaCount: 2 } }));
      expect(await versionsOf(objects)).toEqual(before);
    });

    it('CH8 explains what to do when the CRD belongs to another owner, and takes it over on request', async () => {
      await removeDefinition();
      await plane().client.create(definitions, podGroupDefinition);
      const tutti = release('tutti', `foreign-${version.replace('.', '-')}`);
      const { exitCode, stderr } = await tutti.install(version);
      expect(exitCode).not.toBe(0);
      expect(stderr).toContain(
        'CustomResourceDefinition podgroups.scheduling.x-k8s.io already exists and is not managed by Helm.',
      );
      expect(stderr).toContain('--set crds.install=false');
      expect(stderr).toContain('--set crds.takeOwnership=true --take-ownership');
      expect(
        await absent(`/api/v1/namespaces/foreign-${version.replace('.', '-')}/configmaps/tutti-scheduler-config`),
      ).toBe(undefined);
      await tutti.uninstall(version);
      noProblem(await tutti.install(version, { crds: { takeOwnership: true } }, '--take-ownership'));
      const { metadata } = await plane().client.get<ChartObject>(definition);
      expect(metadata.annotations).toMatchObject({ 'meta.helm.sh/release-name': 'tutti' });
      // The chart accepts its own CRD.
      noProblem(await tutti.upgrade(version));
    });
  });

  it('upgrades from any set of values to any other and back, with either Helm version', async () => {
    await removeDefinition();
    const tutti = release('tutti', 'upgrades');
    const allOn = {
      scheduler: { replicaCount: 2, podAnnotations: { a: 'b' } },
      networkPolicy: { restrictEgress: true, ingressFrom: [{ namespaceSelector: {} }] },
      metrics: { dashboard: { enabled: true }, readers: [{ name: 'prometheus', namespace: 'monitoring' }] },
      config: { extenders: [{ urlPrefix: 'http://127.0.0.1:9', bindVerb: 'bind' }] },
    };
    const little = {
      controller: { enabled: false },
      service: { enabled: false },
      scheduler: { leaderElect: false },
      tests: { enabled: false },
      networkPolicy: { enabled: false },
    };
    noProblem(await tutti.install('3.17', allOn));
    noProblem(await tutti.upgrade('3.17', little));
    const few = await tutti.manifests('3.17');
    expect(await absent('/api/v1/namespaces/upgrades/services/tutti-scheduler')).toBe(undefined);
    await versionsOf(few);
    noProblem(await tutti.upgrade('4.1', allOn));
    await versionsOf(await tutti.manifests('4.1'));
    noProblem(await tutti.rollback('4.1', 2));
    expect((await tutti.manifests('4.1')).map(idOf).sort()).toEqual(few.map(idOf).sort());
    noProblem(await tutti.rollback('3.17', 1));
    await versionsOf(await tutti.manifests('3.17'));
  });

  it('serves health to everyone and metrics to metrics.readers, with the permissions of the chart', async () => {
    await removeDefinition();
    const tutti = release('tutti', 'served');
    noProblem(await tutti.install('3.17', { metrics: { readers: [{ name: 'prometheus', namespace: 'served' }] } }));
    await addReader('served');
    const processes = [await tutti.run('scheduler', '3.17'), await tutti.run('controller', '3.17')];
    for (const process of processes) await expectServing(tutti, process);
    expect(await tutti.stop()).toEqual([]);
  });

  it('without roles, names each missing permission once, as the installation page promises, and works once it has them', async () => {
    await removeDefinition();
    const page = await readFile(join(chartFolder, '../../docs/install.md'), 'utf8');
    const promised = /\| `([^`]+)` in the log \| `rbac\.create=false`/.exec(page)![1]!;
    const tutti = release('tutti', 'roleless');
    noProblem(await tutti.install('3.17', { rbac: { create: false }, logging: { level: 'debug' } }));
    const processes = [await tutti.run('scheduler', '3.17'), await tutti.run('controller', '3.17')];
    const errorsIn = (process: TestProcess): Record<string, string>[] =>
      logLinesOf(process).filter(({ level }) => level === 'error');
    const needed = {
      scheduler: ['get leases', 'list pods', 'list csinodes'],
      controller: ['list pods', 'list podgroups'],
    };
    for (const [index, permissions] of Object.values(needed).entries()) {
      for (const permission of permissions) {
        const [verb, resource] = permission.split(' ');
        await processes[index]!.said(new RegExp(`"verb":"${verb}","resource":"${resource}\\b`));
      }
    }
    // Long enough for a retry of each list.
    await Promise.all(processes.map((process) => process.said(/"failures":2/)));
    noProblem(await tutti.upgrade('3.17', { rbac: { create: true } }));
    for (const process of processes) {
      await process.said(/"message":"API server reached"/);
      const lines = logLinesOf(process);
      const errors = errorsIn(process);
      expect(errors.map(({ message }) => message)).toEqual(
        errors.map(() => expect.stringContaining(promised) as string),
      );
      const permissions = errors.map(({ verb, resource, namespace }) => `${verb} ${resource} ${namespace}`);
      expect(permissions).toHaveLength(new Set(permissions).size);
      const reached = lines.findIndex(({ message }) => message === 'API server reached');
      expect(lines.slice(reached).filter(({ level }) => level === 'error')).toEqual([]);
      const others = lines.filter(({ level, message }) => level === 'warn' && message!.includes('failed'));
      expect(others).toEqual([]);
    }
  });

  it('also serves without a binding in kube-system, and logs what it cannot read', async () => {
    await removeDefinition();
    const tutti = release('tutti', 'unbound');
    const readers = [{ name: 'prometheus', namespace: 'unbound' }];
    noProblem(await tutti.install('3.17', { rbac: { authReader: false }, metrics: { readers } }));
    await addReader('unbound');
    const processes = [await tutti.run('scheduler', '3.17'), await tutti.run('controller', '3.17')];
    for (const process of processes) {
      await process.said(/cannot read certificates; keeping the previous ones/);
      await expectServing(tutti, process);
    }
    const rejected = await tutti.stop();
    expect(rejected).toHaveLength(2);
    for (const line of rejected) expect(line).toContain('extension-apiserver-authentication');
  });

  it('CH7 an upgrade while a gang is being bound leaves it complete', async () => {
    await removeDefinition();
    const size = 40;
    const tutti = release('tutti', 'upgraded');
    // So slow that the old one cannot bind the whole gang in the 15 s that it has after SIGTERM.
    noProblem(await tutti.install('3.17', { config: { clientConnection: { qps: 1, burst: 1 } } }));
    const old = await tutti.run('scheduler', '3.17');
    await old.said(/"message":"scheduling"/);
    // A new pod is ready before an old one gets SIGTERM.
    noProblem(await tutti.upgrade('3.17', { config: { clientConnection: { qps: 50, burst: 100 } } }));
    const standby = await tutti.run('scheduler', '3.17');
    await standby.said(/"message":"standing by/);
    await runGang('moved', 'tutti', size);
    const begun = async (): Promise<string | undefined> =>
      (await countBound('moved')) > 0 ? undefined : 'nothing is bound';
    await poll(begun, 'the old one has begun');
    old.signal('SIGTERM');
    await old.ended();
    const left = await countBound('moved');
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(size);
    await poll(() => bound('moved', size), 'the new one has completed it');
    expect(await tutti.stop()).toEqual([]);
    await removeGang('moved', size);
  });

  it('CH6 three releases, two of them with the same name, bind only their own pods', async () => {
    await removeDefinition();
    const first = release('tutti', 'one');
    const second = release('tutti', 'two');
    const third = release('more', 'two');
    const beside = { crds: { install: false }, controller: { enabled: false } };
    noProblem(await first.install('3.17'));
    noProblem(await second.install('4.1', { ...beside, scheduler: { name: 'second' } }));
    noProblem(await third.install('3.17', { ...beside, scheduler: { name: 'third' } }));
    const schedulers = await Promise.all([first.run('scheduler', '3.17'), second.run('scheduler', '4.1')]);
    for (const scheduler of schedulers) await scheduler.said(/"message":"scheduling"/);
    for (const name of ['tutti', 'second', 'third']) await runGang(`of-${name}`, name);
    await poll(() => bound('of-tutti'), 'the first is bound');
    await poll(() => bound('of-second'), 'the second is bound');
    expect(await bound('of-third')).toBe('0 of of-third are bound');
    await (await third.run('scheduler', '3.17')).said(/"message":"scheduling"/);
    await poll(() => bound('of-third'), 'the third is bound');
    const rejected = await Promise.all([first, second, third].map((each) => each.stop()));
    expect(rejected.flat()).toEqual([]);
    for (const name of ['tutti', 'second', 'third']) await removeGang(`of-${name}`);
  });

  it('CH18 runs with the cluster’s own roles and a small additional one', async () => {
    await removeDefinition();
    const tutti = release('tutti', 'stock');
    noProblem(await tutti.install('3.17', { rbac: { stockRoles: true } }));
    await (await tutti.run('scheduler', '3.17')).said(/"message":"scheduling"/);
    await runGang('stock', 'tutti');
    await poll(() => bound('stock'), 'the gang is bound');
    expect(await tutti.stop()).toEqual([]);
    await removeGang('stock');
  });

  it('CH18 this suite detects rejections of the API server: without permissions there are some', async () => {
    await removeDefinition();
    const tutti = release('tutti', 'unable');
    noProblem(await tutti.install('3.17', { rbac: { create: false }, logging: { level: 'debug' } }));
    await (await tutti.run('scheduler', '3.17')).said(/forbidden/);
    expect(await tutti.stop()).not.toEqual([]);
  });

  it('CH9 a node with a scheduler can be drained, one pod at a time', async () => {
    await removeDefinition();
    const tutti = release('tutti', 'drained');
    noProblem(await tutti.install('3.17', { scheduler: { replicaCount: 3 } }, '--wait', '--timeout', '60s'));
    const budget = '/apis/policy/v1/namespaces/drained/poddisruptionbudgets/tutti-scheduler';
    const allowed = async (): Promise<string | undefined> => {
      const { status } = await plane().client.get<{ status?: { disruptionsAllowed?: number } }>(budget);
      return status?.disruptionsAllowed === 1 ? undefined : JSON.stringify(status);
    };
    await poll(allowed, 'one may be evicted');
    const pods = await plane().client.list('/api/v1/namespaces/drained/pods', {
      labelSelector: 'app.kubernetes.io/component=scheduler',
    });
    const [one, two] = pods.items as { metadata: { name: string }; spec: { nodeName: string } }[];
    expect(new Set((pods.items as { spec: { nodeName: string } }[]).map(({ spec }) => spec.nodeName)).size).toBe(3);
    const evict = (name: string): Promise<unknown> =>
      plane().client.create(`/api/v1/namespaces/drained/pods/${name}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace: 'drained' },
      });
    const cordon = (isCordoned: boolean, ...nodes: readonly string[]): Promise<unknown> =>
      Promise.all(
        nodes.map((node) =>
          plane().client.patch(`/api/v1/nodes/${node}`, 'merge', { spec: { unschedulable: isCordoned ? true : null } }),
        ),
      );
    const others = ['n1', 'n2', 'n3'].filter((node) => node !== one!.spec.nodeName);
    await cordon(true, 'n1', 'n2', 'n3'); // so that no replacement is scheduled yet
    await evict(one!.metadata.name);
    await expect(evict(two!.metadata.name)).rejects.toThrow(/disruption budget/);
    await cordon(false, ...others);
    await poll(allowed, 'a replacement runs');
    await cordon(false, one!.spec.nodeName);
  });

  it('the API server accepts the plain manifests with strict validation', async () => {
    await removeDefinition();
    const objects = objectsIn(await readFile('deploy/tutti.yaml', 'utf8'));
    for (const object of objects) {
      const path = `${pathOf(object).replace(/\/[^/]*$/, '')}?fieldValidation=Strict`;
      await plane().client.create(path, object);
    }
    for (const object of objects.toReversed()) await plane().client.delete(pathOf(object));
  });
});

function logLinesOf({ stderr }: TestProcess): Record<string, string>[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, string>);
}
