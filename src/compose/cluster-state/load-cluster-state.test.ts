import { beforeEach, describe, expect, it } from 'vitest';
import { podGroupPath } from '../../api/pod-group.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { GoneError } from '../../client/api-errors.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import { HiddenClusterError } from './hidden-cluster-error.ts';
import { loadClusterState } from './load-cluster-state.ts';
import type { ClusterState, ClusterStateOptions } from './load-cluster-state.ts';
import { ListedCluster } from './testing/listed-cluster.ts';

const startMs = Date.UTC(2026, 0, 2);
let build: Builders;
let cluster: ListedCluster;

beforeEach(() => {
  build = new Builders();
  cluster = new ListedCluster()
    .set('/api/v1/nodes', build.node({ name: 'a', cpu: 4 }), build.node({ name: 'b', cpu: 4 }))
    .set('/api/v1/pods', ...[0, 1].map((i) => member(`red-${i}`)), build.pod({ name: 'busy', nodeName: 'a', cpu: 1 }))
    .set(podGroupPath(), build.podGroup({ name: 'red', minMember: 2 }))
    .set('/api/v1/configmaps');
});

function member(name: string): object {
  return build.pod({ name, group: 'red', cpu: 2, schedulerName: 'tutti' });
}

function load(options: Partial<ClusterStateOptions> = {}): Promise<ClusterState> {
  return loadClusterState({ client: cluster, clock: new VirtualClock(startMs), random: () => 0, ...options });
}

function configMap(text: string, name = 'tutti-scheduler-config'): object {
  return { metadata: { namespace: 'tutti-system', name }, data: { 'scheduler.yaml': text } };
}

function configuration(...lines: readonly string[]): string {
  return ['apiVersion: kubescheduler.config.k8s.io/v1', 'kind: KubeSchedulerConfiguration', ...lines].join('\n');
}

describe('a core that is filled through the API', () => {
  it('has the nodes, pods and groups, and its queue the entities that wait', async () => {
    const { core, basis } = await load();
    expect(core.cluster.nodes.map(({ name, pods }) => [name, pods.size])).toEqual([
      ['a', 1],
      ['b', 0],
    ]);
    core.begin();
    expect([...core.queue.entities()].map(({ key }) => key)).toEqual(['gang/default/red']);
    expect(basis).toEqual({
      source: 'api',
      takenAt: '2026-01-02T00:00:00.000Z',
      ageSeconds: 0,
      version: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      unknowns: ['assumedPods', 'configuration', 'queueOrder', 'reservations'],
    });
  });

  it('plans as the scheduler does', async () => {
    const { core } = await load();
    core.begin();
    const [entity] = core.queue.entities();
    expect(core.dryRun(entity!.schedulingEntity).fits).toBe(true);
  });

  it('contains the objects of all pages', async () => {
    cluster.set('/api/v1/nodes', ...Array.from({ length: 1_200 }, (_, index) => build.node({ name: `n${index}` })));
    const { core } = await load();
    expect(core.cluster.nodes).toHaveLength(1_200);
    expect(cluster.calls.filter((path) => path === '/api/v1/nodes')).toHaveLength(3);
  });

  it('contains PodGroups of Kubernetes in the newest version that is served', async () => {
    cluster.set('/apis/scheduling.k8s.io/v1alpha3/podgroups', build.nativePodGroup({ name: 'green', minCount: 3 }));
    const { core, errors } = await load();
    expect(core.cluster.gang('scheduling.k8s.io/default/green')?.spec?.minMember).toBe(3);
    expect(errors).toEqual([]);
  });

  it('has no groups if the API server serves none', async () => {
    cluster.collections.delete(podGroupPath());
    const { core, errors } = await load();
    expect(core.cluster.gang('default/red')?.spec).toBeUndefined();
    expect(errors).toEqual([]);
  });

  it('leaves out malformed objects and names them', async () => {
    cluster.set('/api/v1/pods', { metadata: { name: 'odd' }, spec: {} }, build.pod({ name: 'busy', nodeName: 'a' }));
    const { core, errors } = await load();
    expect(core.cluster.podCount).toBe(1);
    expect(errors).toEqual([{ part: 'pods', message: 'left out: metadata.uid is not a string' }]);
  });

  it('starts the lists again when the server has dropped their version', async () => {
    const client: ClusterStateOptions['client'] = {
      get: (path) => cluster.get(path),
      list: (path, options) => {
        const calls = cluster.calls.filter((called) => called === path).length;
        const answer = cluster.list(path, options);
        if (path !== '/api/v1/pods' || calls > 0) return answer;
        const details = { status: 410, reason: 'Expired', request: `GET ${path}`, causes: [] };
        return Promise.reject(new GoneError('too old', details));
      },
    };
    const { core } = await load({ client });
    expect(core.cluster.podCount).toBe(3);
  });

  it.each(['/api/v1/nodes', '/api/v1/pods'])('is refused if the caller may not list %s', async (path) => {
    cluster.forbid(path);
    await expect(load()).rejects.toThrow(HiddenClusterError);
    await expect(load()).rejects.toThrow(
      /^user "jane" may not list (nodes|the pods of all namespaces); the chart's ClusterRole "explain" allows it$/,
    );
  });

  it('has the pods and groups of the given namespaces then, and no version', async () => {
    cluster.forbid('/api/v1/nodes').forbid('/api/v1/pods').forbid(podGroupPath());
    cluster.set('/api/v1/namespaces/default/pods', member('red-0'), build.pod({ name: 'busy', nodeName: 'a' }));
    cluster.set(podGroupPath('default'), build.podGroup({ name: 'red', minMember: 2 }));
    cluster.forbid('/api/v1/namespaces/other/pods');
    const { core, basis, errors, hidden } = await load({ orNamespaces: ['default', 'other', 'default'] });
    expect([core.cluster.podCount, core.cluster.nodes.length]).toEqual([2, 0]);
    expect(core.cluster.gang('default/red')?.spec?.minMember).toBe(2);
    expect(basis).toEqual({
      source: 'api',
      takenAt: '2026-01-02T00:00:00.000Z',
      ageSeconds: 0,
      unknowns: ['assumedPods', 'configuration', 'hiddenNodes', 'hiddenPods', 'queueOrder', 'reservations', 'volumes'],
    });
    expect(hidden).toBeInstanceOf(HiddenClusterError);
    expect(errors).toMatchObject([
      { part: 'pods', message: expect.stringMatching(/; the role "view" in the namespace allows it$/) as string },
    ]);
  });

  it('does not know the volumes if the caller may not list claims, and says which part failed', async () => {
    cluster.forbid('/api/v1/persistentvolumeclaims');
    const { basis, errors } = await load();
    expect(basis.unknowns).toContain('volumes');
    expect(errors).toMatchObject([
      { part: 'persistentvolumeclaims', message: expect.stringContaining('forbidden') as string },
    ]);
  });

  it('writes nothing, even if it attempts all entities', async () => {
    const calls: string[] = [];
    const client = new Proxy(cluster, {
      get(target, name) {
        calls.push(String(name));
        return Reflect.get(target, name).bind(target) as unknown;
      },
    });
    const clock = new VirtualClock(startMs);
    cluster.set(
      '/api/v1/pods',
      member('red-0'),
      member('red-1'),
      build.pod({ name: 'huge', cpu: 99, schedulerName: 'tutti' }),
    );
    const { core } = await load({ client, clock });
    core.begin();
    let attempts = 0;
    for (let second = 0; second < 60; second++) {
      for (; core.attempt() !== undefined; attempts++) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await core.stop();
    expect(attempts).toBeGreaterThan(4);
    expect(new Set(calls)).toEqual(new Set(['list']));
    expect([...core.cluster.pods()].map(({ nodeName }) => nodeName)).toEqual(['', '', '']);
  });
});

describe('the configuration of that core', () => {
  it('is that of the ConfigMap of the chart', async () => {
    cluster.set('/api/v1/configmaps', configMap(configuration('profiles: [{schedulerName: batch}]')));
    const { core, basis } = await load();
    expect(core.profiles.schedulerNames).toEqual(['batch']);
    expect(basis.unknowns).not.toContain('configuration');
  });

  it('leaves out plugins of others, and extenders', async () => {
    const text = configuration(
      'profiles:',
      '- schedulerName: batch',
      '  plugins: {multiPoint: {enabled: [{name: Ours, weight: 3}]}, score: {enabled: [{name: Theirs}]}}',
      '  pluginConfig: [{name: Ours, args: {size: 1}}]',
      'extenders: [{urlPrefix: "http://x", filterVerb: filter}]',
    );
    cluster.set('/api/v1/configmaps', configMap(text));
    const { core, basis } = await load();
    expect(core.profiles.schedulerNames).toEqual(['batch']);
    expect(basis.unknowns).toEqual(['assumedPods', 'extenders', 'plugins', 'queueOrder', 'reservations']);
  });

  it('is the default one if it does not work without the plugins of others', async () => {
    const plugins = '{queueSort: {enabled: [{name: Ours}], disabled: [{name: "*"}]}}';
    cluster.set(
      '/api/v1/configmaps',
      configMap(configuration(`profiles: [{schedulerName: batch, plugins: ${plugins}}]`)),
    );
    const { core, basis } = await load();
    expect(core.profiles.schedulerNames).toEqual(['batch']);
    expect(basis.unknowns).toEqual(expect.arrayContaining(['configuration', 'plugins']));
  });

  it.each([
    ['the caller may not read it', () => cluster.forbid('/api/v1/configmaps')],
    ['it is invalid', () => cluster.set('/api/v1/configmaps', configMap('kind: [}'))],
    [
      'several releases have one',
      () => cluster.set('/api/v1/configmaps', configMap(configuration()), configMap(configuration(), 'b')),
    ],
  ])('is the default one if %s', async (_, prepare) => {
    prepare();
    const { core, basis } = await load();
    expect(core.profiles.schedulerNames).toEqual(['tutti']);
    expect(basis.unknowns).toContain('configuration');
  });

  it('is that of the release that schedules the given names', async () => {
    const ofRelease = (name: string): object =>
      configMap(configuration(`profiles: [{schedulerName: ${name}}]`), `${name}-config`);
    cluster.set('/api/v1/configmaps', ofRelease('batch'), ofRelease('interactive'));
    const { core } = await load({ schedulerNames: ['interactive'] });
    expect(core.profiles.schedulerNames).toEqual(['interactive']);
  });

  it('is read in the namespace of the documentation if the caller may not look everywhere', async () => {
    const text = configuration('profiles: [{schedulerName: batch}]');
    cluster.forbid('/api/v1/configmaps').set('/api/v1/namespaces/tutti-system/configmaps', configMap(text));
    expect((await load()).core.profiles.schedulerNames).toEqual(['batch']);
  });
});
