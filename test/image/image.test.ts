import { createHash } from 'node:crypto';
import { chmod, copyFile, lstat, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { QueueList } from '../../src/api/explain/lists.ts';
import { podGroupDefinition } from '../../src/api/pod-group-schema.ts';
import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { CommandInProcess } from '../../src/cli/testing/command-in-process.ts';
import { httpsGet } from '../../src/serving/testing/https-get.ts';
import { ChartRelease } from '../chart/installed-chart.ts';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import { helmVersions, kubectlPath } from '../planes/kubectl.ts';
import { poll } from '../planes/poll.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideNodeForSuite } from '../planes/real/node/provide-real-node.ts';
import { nodeName, pauseImage } from '../planes/real/node/real-node.ts';
import { freePorts } from '../planes/real/ports.ts';
import { BuiltImage } from './built-image.ts';
import { provideImageForSuite } from './provide-image.ts';
import { hangsMs } from '../planes/patience.ts';

const canBuild = await provideImageForSuite('the image');
const programs = await provideNodeForSuite('the image on a real node', ['kube-scheduler']);

describe.skipIf(canBuild.state === 'missing')('The image', () => {
  let image: BuiltImage;

  beforeAll(async () => {
    if (canBuild.state !== 'missing') image = await BuiltImage.build('tutti:test');
  });

  afterAll(async () => {
    await image?.remove();
  });

  it('is smaller than 160 MB and has a numeric non-root user', () => {
    expect(image.config).toMatchObject({
      User: '65532:65532',
      // Between Node.js and the script are the flags from the first line of dist/cli.js.
      Entrypoint: expect.toSatisfy((words: readonly string[]) => {
        const [program, ...rest] = words;
        const flags = rest.slice(0, -1);
        const isOurs = program === '/usr/local/bin/node' && rest.at(-1) === '/opt/tutti/dist/cli.js';
        return isOurs && flags.length > 0 && flags.every((flag) => flag.startsWith('--'));
      }) as unknown,
      Cmd: ['--help'],
      Labels: { 'org.opencontainers.image.title': 'tutti', 'org.opencontainers.image.licenses': 'Apache-2.0' },
    });
    expect(image.size).toBeLessThan(160e6);
  });

  it('adds only Node.js, the package and the kubectl plugin to its base: no shell, and no files that its user can write', async () => {
    const files = await filesOf(image.root);
    const added = files.filter(({ path }) => !/^(usr\/)?lib(64)?\//.test(path));
    const others = added.filter(({ path }) => !path.startsWith('opt/tutti/')).map(({ path }) => path);
    expect(others.sort()).toEqual([
      'usr/local/bin/kubectl-tutti',
      'usr/local/bin/kubectl_complete-tutti',
      'usr/local/bin/node',
    ]);
    const unsafe = files.filter(({ uid, mode }) => uid !== 0 || (mode & 0o6022) !== 0);
    expect(unsafe.map(({ path }) => path)).toEqual([]);
  });

  it('has bundled code with source maps', async () => {
    const dist = join(image.root, 'opt/tutti/dist');
    const code = await readFile(join(dist, 'cli.js'), 'utf8');
    expect(code).toMatch(/\/\/# sourceMappingURL=cli\.js\.map\s*$/);
    const { sources } = JSON.parse(await readFile(join(dist, 'cli.js.map'), 'utf8')) as { readonly sources: string[] };
    expect(sources).toContain('../src/main.ts');
    expect((await readdir(join(image.root, 'opt/tutti'))).includes('node_modules')).toBe(false);
  });

  it('has the Node.js of the lockfile, byte for byte, and a CycloneDX bill of materials with it and the bundled packages', async () => {
    const bill = JSON.parse(await readFile(join(image.root, 'opt/tutti/dist/sbom.cdx.json'), 'utf8')) as {
      readonly bomFormat: string;
      readonly components: readonly { readonly name: string; readonly version: string }[];
    };
    const holder = `node-${process.platform}-${process.arch}`;
    const node = await readFile(join(image.root, 'usr/local/bin/node'));
    expect(node.equals(await readFile(join('node_modules', holder, 'bin/node')))).toBe(true);
    const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly version: string }>>;
    };
    expect(bill.bomFormat).toBe('CycloneDX');
    const sha256 = createHash('sha256').update(node).digest('hex');
    expect(bill.components).toContainEqual(
      expect.objectContaining({ name: 'node', hashes: [{ alg: 'SHA-256', content: sha256 }] }),
    );
    for (const name of [holder, 'winston', 'prom-client', '@kubernetes/client-node']) {
      const { version } = packages[`node_modules/${name}`]!;
      expect(bill.components).toContainEqual(expect.objectContaining({ name, version }));
    }
  });

  describe('running as its user on a read-only file system', () => {
    let shared: string;

    beforeAll(async () => {
      if (canBuild.state === 'missing') return;
      shared = await mkdtemp(join(tmpdir(), 'tutti-shared-'));
      await chmod(shared, 0o755);
    });

    afterAll(async () => {
      if (shared !== undefined) await rm(shared, { recursive: true });
    });

    it('prints its version with --version and its help without arguments', async () => {
      const version = image.run(['--version'], shared);
      expect(await version.ended()).toMatchObject({ exitCode: 0 });
      const manifest = JSON.parse(await readFile('package.json', 'utf8')) as { readonly version: string };
      expect(version.stdout).toBe(`${manifest.version}\n`);
      const help = image.run(image.config.Cmd, shared);
      expect(await help.ended()).toMatchObject({ exitCode: 0 });
      expect(help.stdout).toContain('scheduler');
    });

    it('KP1 runs as kubectl tutti, and completes its commands, if kubectl is added', async () => {
      await copyFile(await kubectlPath(), join(shared, 'kubectl'));
      await chmod(join(shared, 'kubectl'), 0o755);
      const kubectl = async (...parameters: readonly string[]): Promise<string> => {
        const child = image.run(parameters, shared, ['/tmp/kubectl']);
        await child.ended();
        return child.stdout + child.stderr;
      };
      expect(await kubectl('tutti', 'why', '--help')).toContain('Usage: kubectl tutti why [options] <name>');
      expect(await kubectl('__complete', 'tutti', 'drain')).toMatch(/^drain-check\t/);
    });

    it('schedules a gang, answers probes over HTTPS and exits with code 0 on SIGTERM', async () => {
      const plane = await openEmbeddedPlane();
      try {
        await copyFile(plane.kubeconfigPath, join(shared, 'kubeconfig'));
        await chmod(join(shared, 'kubeconfig'), 0o644);
        const [port] = await freePorts(1);
        const scheduler = image.run(
          ['scheduler', '--kubeconfig=/tmp/kubeconfig', `--secure-port=${port}`, '--bind-address=127.0.0.1'],
          shared,
        );
        await scheduler.said(/ scheduling schedulerNames=/);
        for (const path of ['/livez', '/readyz', '/healthz']) {
          expect(await httpsGet(`https://127.0.0.1:${port}${path}`)).toMatchObject({ status: 200, text: 'ok' });
        }
        await plane.client.create('/api/v1/nodes', {
          metadata: { name: 'n1' },
          status: { allocatable: { cpu: '2', memory: '4Gi', pods: '10' } },
        });
        await plane.client.create(podGroupPath('default'), {
          ...{ apiVersion: 'scheduling.x-k8s.io/v1alpha1', kind: 'PodGroup' },
          ...{ metadata: { name: 'pair', namespace: 'default' }, spec: { minMember: 2 } },
        });
        for (const name of ['one', 'two']) {
          await plane.client.create('/api/v1/namespaces/default/pods', {
            metadata: { name, labels: { [podGroupLabel]: 'pair' } },
            spec: { schedulerName: 'tutti', containers: [{ name: 'main', image: 'main' }] },
          });
        }
        await poll(async () => {
          const { items } = await plane.client.list('/api/v1/namespaces/default/pods');
          const bound = (items as Pod[]).filter(({ spec }) => spec.nodeName === 'n1');
          return bound.length === 2 ? undefined : `${bound.length} are`;
        }, 'both are bound');
        scheduler.signal('SIGTERM');
        expect(await scheduler.ended()).toMatchObject({ exitCode: 0 });
      } finally {
        await plane.stop();
      }
    });
  });

  describe.skipIf(programs.state === 'missing')('in the pods of the chart on a real node', () => {
    const plane = planeForSuite(programs, { controllerManager: true, node: true });
    let release: ChartRelease;
    const values = { image: { repository: 'tutti', tag: 'test', pullPolicy: 'Never' } };
    const untilDone = ['--wait', '--timeout', '120s'] as const;

    beforeAll(async () => {
      await plane().startPeer('kube-scheduler', { schedulerName: 'default-scheduler', qps: 50, burst: 100 });
      await plane().node!.importImage(image.archive);
      release = new ChartRelease(plane(), 'tutti', 'tutti-system');
      const name = 'reads-debug';
      await plane().client.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name } });
      await plane().client.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
        metadata: { name },
        roleRef: {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'ClusterRole',
          name: 'tutti:tutti-system:debug-reader',
        },
        subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
      });
    });

    afterEach(async () => {
      await release?.uninstall('3.17');
    });

    /** Returns the pods of the release, except terminating ones. */
    async function pods(): Promise<readonly Pod[]> {
      const { items } = await plane().client.list('/api/v1/namespaces/tutti-system/pods');
      return (items as Pod[]).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    }

    const names = async (): Promise<readonly string[]> => (await pods()).map(({ metadata }) => metadata.name).sort();

    /** Returns the log, which the API server fetches from the kubelet. */
    async function logOf(pod: string): Promise<string> {
      const path = `/api/v1/namespaces/tutti-system/pods/${pod}/log`;
      return (await plane().client.call({ method: 'GET', path, headers: {} }, { timeoutMs: hangsMs })).text;
    }

    async function expectHealthy(components: readonly string[]): Promise<void> {
      const found = await pods();
      expect(found.map(({ metadata }) => metadata.labels['app.kubernetes.io/component']).sort()).toEqual(components);
      for (const { metadata, spec, status } of found) {
        expect({ spec, status }).toMatchObject({
          spec: { nodeName },
          status: { phase: 'Running', containerStatuses: [{ ready: true, restartCount: 0 }] },
        });
        expect((await logOf(metadata.name)).split('\n').filter((line) => errorPattern.test(line))).toEqual([]);
      }
    }

    /** Creates a Job whose containers run for 500 ms. If `fit` is set, only that many of its pods fit on the node at a time. */
    async function createGang(name: string, { fit }: { readonly fit?: number } = {}): Promise<void> {
      const { status } = await plane().client.get<{ status: { allocatable: { cpu: string } } }>(
        `/api/v1/nodes/${nodeName}`,
      );
      const cpu = fit === undefined ? '10m' : `${Math.floor((Number(status.allocatable.cpu) * 1000) / (fit + 0.5))}m`;
      await plane().client.create(podGroupPath('default'), {
        ...{ apiVersion: 'scheduling.x-k8s.io/v1alpha1', kind: 'PodGroup' },
        ...{ metadata: { name, namespace: 'default' }, spec: { minMember: 3 } },
      });
      const container = { name: 'main', image: pauseImage, imagePullPolicy: 'Never', args: ['500ms'] };
      await plane().client.create('/apis/batch/v1/namespaces/default/jobs', {
        metadata: { name },
        spec: {
          ...{ parallelism: 3, completions: 3 },
          template: {
            metadata: { labels: { [podGroupLabel]: name } },
            spec: {
              schedulerName: 'tutti',
              restartPolicy: 'Never',
              containers: [{ ...container, resources: { requests: { cpu } } }],
            },
          },
        },
      });
    }

    async function membersOf(name: string): Promise<readonly Pod[]> {
      const labelSelector = `${podGroupLabel}=${name}`;
      return (await plane().client.list('/api/v1/namespaces/default/pods', { labelSelector })).items as Pod[];
    }

    /** Runs a command that asks the scheduler in its pod, through the API server and the kubelet. Returns its answer. */
    async function askScheduler(...parameters: readonly string[]): Promise<unknown> {
      const command = new CommandInProcess([
        ...[...parameters, '--source', 'scheduler', '--output', 'json', '--insecure-skip-scheduler-tls-verify'],
        ...['--token-from-service-account', 'default/reads-debug', '--kubeconfig', join(plane().folder, 'kubeconfig')],
      ]);
      expect(await command.ended, command.stderr).toBe(0);
      expect(command.stderr).toBe('');
      return JSON.parse(command.stdout);
    }

    async function expectFinished(name: string): Promise<void> {
      await poll(async () => {
        const { status = {} } = await plane().client.get<{ status?: { phase?: string } }>(
          podGroupPath('default', name),
        );
        return status.phase === 'Finished' ? undefined : JSON.stringify(status);
      }, `the gang ${name} has finished`);
      const results = (await membersOf(name)).map(({ spec, status }) => [
        spec.nodeName,
        status.phase,
        exitCodeOf(status),
      ]);
      expect(results).toEqual(Array.from({ length: 3 }, () => [nodeName, 'Succeeded', 0]));
    }

    it.each(helmVersions)(
      'can be installed, tested, upgraded, rolled back and uninstalled with Helm %s, and starts gangs of containers as a whole or not at all',
      async (version) => {
        await plane().client.delete(definition);
        expect(await release.install(version, values, ...untilDone)).toMatchObject({ exitCode: 0 });
        await expectHealthy(['controller', 'scheduler']);
        const installed = await names();

        const test = await release.test(version, '--timeout', '120s');
        expect(test).toMatchObject({
          exitCode: 0,
          stdout: expect.stringMatching(/tutti-test\n.*\n.*\nPhase: +Succeeded/),
        });

        const gang = (what: string): string => `${what}-${version.replace('.', '-')}`;
        await createGang(gang('small'));
        await expectFinished(gang('small'));
        await createGang(gang('large'), { fit: 2 });
        await poll(async () => {
          const reasons = (await membersOf(gang('large'))).map(({ status }) => status.conditions?.[0]?.reason);
          return reasons.join() === 'Unschedulable,Unschedulable,Unschedulable' ? undefined : reasons.join();
        }, 'all members have a verdict');
        expect((await membersOf(gang('large'))).map(({ spec }) => spec.nodeName)).toEqual(Array(3).fill(undefined));
        expect(await askScheduler('why', `group/${gang('large')}`, '-n', 'default')).toMatchObject({
          ...{ kind: 'Explanation', basis: { source: 'scheduler' }, state: 'Waiting', waitsFor: expect.any(String) },
          gang: { minMember: 3, existing: 3 },
        });
        const queue = (await askScheduler('queue')) as QueueList;
        expect(queue.basis.source).toBe('scheduler');
        const waiting = queue.items.find(({ subject }) => subject.name === gang('large'));
        expect(waiting).toMatchObject({ position: 1, attempts: expect.any(Number) });
        await expectHealthy(['controller', 'scheduler']);

        const more = { ...values, scheduler: { replicaCount: 2 }, logging: { level: 'debug' } };
        expect(await release.upgrade(version, more, ...untilDone)).toMatchObject({ exitCode: 0 });
        await expectHealthy(['controller', 'scheduler', 'scheduler']);
        expect((await names()).filter((name) => installed.includes(name))).toEqual([]);
        await createGang(gang('upgraded'));
        await expectFinished(gang('upgraded'));

        expect(await release.rollback(version, 1, ...untilDone)).toMatchObject({ exitCode: 0 });
        await expectHealthy(['controller', 'scheduler']);
        await createGang(gang('rolled-back'));
        await expectFinished(gang('rolled-back'));

        expect(await release.uninstall(version)).toMatchObject({ exitCode: 0 });
        await poll(async () => ((await names()).length === 0 ? undefined : 'some still exist'), 'its pods are gone');
        await plane().client.get(definition);
      },
    );
  });
});

const definition = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${podGroupDefinition.metadata.name}`;
const errorPattern = /"level":"error"|forbidden|rejects access/i;

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly nodeName?: string };
  readonly status: PodStatus;
}

interface PodStatus {
  readonly phase?: string;
  readonly conditions?: readonly { readonly reason?: string }[];
  readonly containerStatuses?: readonly { readonly state?: { readonly terminated?: { readonly exitCode: number } } }[];
}

function exitCodeOf({ containerStatuses = [] }: PodStatus): number | undefined {
  return containerStatuses[0]?.state?.terminated?.exitCode;
}

/** Returns every file under a folder, with its relative path. */
async function filesOf(root: string): Promise<{ path: string; uid: number; mode: number }[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory() && !entry.isSymbolicLink());
  return Promise.all(
    files.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const { uid, mode } = await lstat(path);
      return { path: path.slice(root.length + 1), uid, mode };
    }),
  );
}
