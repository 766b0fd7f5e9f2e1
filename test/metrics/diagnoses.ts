import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { statusAnswer } from '../planes/api-proxy.ts';
import { poll } from '../planes/poll.ts';
import { valueOf } from './samples.ts';
import type { TroubledRelease } from './troubled-release.ts';

/** The state of a cluster that an alert reports, and how to produce it. */
export interface Diagnosis {
  readonly alert: string;
  /** The component whose metrics the alert reads. */
  readonly component: 'scheduler' | 'controller';
  /** Sets up the healthy state. */
  readonly begin: (release: TroubledRelease) => Promise<void>;
  /** Breaks it. */
  readonly produce: (release: TroubledRelease) => Promise<void>;
  /** Duration of the state before the alert is checked. */
  readonly minutes: number;
  /** Why the state cannot be produced from outside. The commands still run, and the alert does not fire. */
  readonly notProduced?: string;
}

async function installed(release: TroubledRelease): Promise<void> {
  await release.install();
  await release.runBoth();
}

function nothing(): Promise<void> {
  return Promise.resolve();
}

/** Resolves when the scheduler's metric is at least `min`. */
async function reaches(
  release: TroubledRelease,
  name: string,
  labels: Readonly<Record<string, string>>,
  min: number,
): Promise<void> {
  const missing = async (): Promise<string | undefined> => {
    const value = valueOf((await release.scrape('scheduler')) ?? [], name, labels);
    return value !== undefined && value >= min ? undefined : `it is ${value}`;
  };
  await poll(missing, `${name}${JSON.stringify(labels)} is at least ${min}`);
}

/** Rejects Bindings of one member, as a webhook does. */
async function bindHalf(release: TroubledRelease): Promise<void> {
  release.proxy.fault = ({ method, path }) =>
    method === 'POST' && path.includes('/pods/train-1/binding')
      ? statusAnswer(403, 'Forbidden', 'admission webhook "pods.example.com" denied the request: not today')
      : undefined;
  await release.stage.createGang('train', 2);
  await release.stage.bound('train', 1);
  await reaches(release, 'tutti_podgroups_partial', {}, 1);
  await release.stage.prints('kubectl get pg', / 1 +(?:SchedulerError|Unschedulable) /);
  await release.stage.prints('kubectl get events --field-selector reason=FailedScheduling', /train-1.*not today/);
}

/** Installs with a plugin whose Filter has this body. */
function installedWithPlugin(body: string) {
  return async (release: TroubledRelease): Promise<void> => {
    const file = join(release.stage.folder, 'broken.mjs');
    await writeFile(
      file,
      `export default { name: 'Broken', factory: () => ({ name: 'Broken', filter() { ${body} } }) };\n`,
    );
    await release.install({ plugins: { enabled: ['Broken'] } }, `--plugin=${file}`);
    await release.runBoth();
  };
}

async function lastOf(release: TroubledRelease, name: string): Promise<number> {
  return ((await release.scrape('scheduler')) ?? [])
    .filter((sample) => sample.name === name)
    .reduce((sum, { value }) => sum + value, 0);
}

export const diagnoses: readonly Diagnosis[] = [
  {
    alert: 'TuttiDown',
    component: 'scheduler',
    minutes: 30,
    begin: nothing,
    produce: async (release: TroubledRelease): Promise<void> => {
      await release.install({ plugins: { enabled: ['GangScheduling'] } });
      await (await release.run('scheduler')).ended();
    },
  },
  {
    alert: 'TuttiControllerDown',
    component: 'controller',
    minutes: 30,
    begin: nothing,
    produce: async (release: TroubledRelease): Promise<void> => {
      await release.install({ controller: { extraArgs: ['--worker=8'] } });
      await (await release.run('controller')).ended();
    },
  },
  {
    alert: 'TuttiNoLeader',
    component: 'scheduler',
    minutes: 30,
    begin: nothing,
    produce: async (release: TroubledRelease): Promise<void> => {
      await release.install();
      const renewTime = new Date().toISOString().replace('Z', '000Z');
      await release.stage.plane.client.create('/apis/coordination.k8s.io/v1/namespaces/tutti-system/leases', {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'tutti-scheduler', namespace: 'tutti-system' },
        spec: {
          holderIdentity: 'tutti-scheduler-before-5d4f9c',
          leaseDurationSeconds: 3600,
          acquireTime: renewTime,
          renewTime,
        },
      });
      await (await release.run('scheduler')).said(/"message":"standing by/);
    },
  },
  {
    alert: 'TuttiTwoLeaders',
    component: 'scheduler',
    minutes: 30,
    notProduced: 'a process that does not hold the Lease does not report that it leads',
    begin: installed,
    produce: async (release: TroubledRelease): Promise<void> => {
      await release.stage.prints(
        'kubectl -n tutti-system get leases',
        /tutti-controller +\S+_.*\n.*tutti-scheduler +\S+_/,
      );
    },
  },
  { alert: 'TuttiPodGroupPartial', component: 'scheduler', minutes: 30, begin: installed, produce: bindHalf },
  {
    alert: 'TuttiPictureStale',
    component: 'scheduler',
    minutes: 30,
    begin: installed,
    produce: async (release: TroubledRelease): Promise<void> => {
      const { client } = release.stage.plane;
      const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/tutti:tutti-system:scheduler';
      const { rules } = await client.get<{ readonly rules: readonly { readonly resources: readonly string[] }[] }>(
        role,
      );
      await client.patch(role, 'merge', { rules: rules.filter(({ resources }) => !resources.includes('pods')) });
      // The proxy has its own permissions.
      const message =
        'pods is forbidden: User "system:serviceaccount:tutti-system:tutti-scheduler" cannot watch resource "pods" in API group "" at the cluster scope';
      release.proxy.fault = ({ path, connection }) =>
        connection === 'watch' && path.startsWith('/api/v1/pods') ? statusAnswer(403, 'Forbidden', message) : undefined;
      // Open watches continue; these end with their connection.
      await release.proxy.cut();
      await release.proxy.restore();
      const isOlder = async (): Promise<string | undefined> => {
        await release.stage.run('kubectl annotate node node-1 --overwrite seen=$(date +%N)');
        const samples = (await release.scrape('scheduler')) ?? [];
        const [pods = 0, nodes = 0] = ['pods', 'nodes'].map((resource) =>
          valueOf(samples, 'tutti_picture_age_seconds', { resource }),
        );
        return pods > nodes + 1 ? undefined : `pods ${pods}, nodes ${nodes}`;
      };
      await poll(isOlder, 'nodes are updated, and pods are not');
      await release.logged('scheduler', /"verb":"watch","resource":"pods"/);
    },
  },
  {
    alert: 'TuttiGroupStarving',
    component: 'scheduler',
    minutes: 1500,
    begin: installed,
    produce: async (release: TroubledRelease): Promise<void> => {
      for (const node of ['node-1', 'node-2']) {
        await release.stage.createGang(`on-${node}`, 1, { cpu: '1500m', nodeName: node });
      }
      await release.stage.createGang('train', 2, { cpu: '1' });
      await reaches(release, 'tutti_podgroups_waiting', { waits_for: 'capacity' }, 1);
      await release.stage.run('kubectl delete pg on-node-1 on-node-2');
      await release.stage.prints('kubectl get pg', /train.*Unschedulable/);
    },
  },
  {
    alert: 'TuttiGroupNeverFits',
    component: 'scheduler',
    minutes: 90,
    begin: installed,
    produce: async (release: TroubledRelease): Promise<void> => {
      await release.stage.createGang('train', 2, { cpu: '3' });
      await reaches(release, 'tutti_podgroups_waiting', { waits_for: 'never' }, 1);
      await release.stage.prints('kubectl get pg', /train.*Unschedulable/);
    },
  },
  {
    alert: 'TuttiDecisionsSlow',
    component: 'scheduler',
    minutes: 60,
    begin: installedWithPlugin('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2300);'),
    produce: async (release: TroubledRelease): Promise<void> => {
      // Once for each of two nodes.
      await release.stage.createGang('train', 1, { cpu: '1' });
      await release.stage.bound('train', 1);
      await reaches(release, 'scheduler_scheduling_algorithm_duration_seconds_count', {}, 1);
    },
  },
  {
    alert: 'TuttiVerdictsLate',
    component: 'scheduler',
    minutes: 60,
    begin: installed,
    produce: async (release: TroubledRelease): Promise<void> => {
      release.proxy.fault = async ({ method, path }, forward) => {
        if (method !== 'PATCH' || !path.includes('/status')) return undefined;
        await new Promise((resolve) => setTimeout(resolve, 2_500));
        return forward();
      };
      await release.stage.createGang('train', 2, { cpu: '3' });
      await reaches(release, 'tutti_verdict_delay_seconds_count', {}, 1);
    },
  },
  {
    alert: 'TuttiSchedulerErrors',
    component: 'scheduler',
    minutes: 60,
    begin: installedWithPlugin(`throw new Error('out of order');`),
    produce: async (release: TroubledRelease): Promise<void> => {
      await release.stage.createGang('train', 2);
      const isTried = async (): Promise<string | undefined> => {
        const errors = await lastOf(release, 'scheduler_podgroup_schedule_attempts_total');
        return errors >= 2 ? undefined : `tried ${errors} times`;
      };
      await poll(isTried, 'the scheduler has tried it twice');
      await release.stage.prints('kubectl get pg', /SchedulerError/);
    },
  },
  {
    alert: 'TuttiClaimStuck',
    component: 'scheduler',
    minutes: 60,
    begin: installed,
    produce: async (release: TroubledRelease): Promise<void> => {
      const { client } = release.stage.plane;
      const pods = '/api/v1/namespaces/default/pods';
      const spec = { schedulerName: 'default-scheduler', containers: [{ name: 'main', image: 'main' }] };
      const pod = (name: string, more: object): object => ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: { ...spec, ...more },
      });
      // It hangs like a pod whose node is gone.
      await client.create(pods, pod('victim', { nodeName: 'node-1' }));
      await client.patch(`${pods}/victim/status`, 'merge', { status: { phase: 'Running' } });
      await client.delete(`${pods}/victim`);
      await client.create(pods, pod('urgent', {}));
      await client.patch(`${pods}/urgent/status`, 'merge', { status: { nominatedNodeName: 'node-1' } });
      await reaches(release, 'tutti_claims', { kind: 'nomination' }, 1);
    },
  },
  {
    alert: 'TuttiVictimStuck',
    component: 'scheduler',
    minutes: 60,
    begin: async (release: TroubledRelease): Promise<void> => {
      await release.install({ pluginConfig: [{ name: 'DefaultPreemption', args: { terminationSlackSeconds: 1 } }] });
      await release.runBoth();
    },
    produce: async (release: TroubledRelease): Promise<void> => {
      const { client } = release.stage.plane;
      const name = 'urgent';
      const urgent = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value: 1000 };
      await client.create('/apis/scheduling.k8s.io/v1/priorityclasses', urgent);
      const pods = '/api/v1/namespaces/default/pods';
      const container = { name: 'main', image: 'main', resources: { requests: { cpu: '2' } } };
      const spec = { containers: [container], schedulerName: 'tutti', terminationGracePeriodSeconds: 1 };
      const pod = (metadata: object, more: object): object => ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata,
        spec: { ...spec, ...more },
      });
      await client.create(pods, pod({ name: 'other' }, { nodeName: 'node-2', priorityClassName: name }));
      const finalizers = ['example.com/backup'];
      await client.create(pods, pod({ name: 'victim', finalizers }, { nodeName: 'node-1' }));
      await client.create(pods, pod({ name }, { priorityClassName: name }));
      await reaches(release, 'tutti_preemption_stuck_victims', {}, 1);
    },
  },
  {
    alert: 'TuttiCapacityReserved',
    component: 'scheduler',
    minutes: 60,
    begin: installed,
    produce: async (release: TroubledRelease): Promise<void> => {
      await release.stage.createGang('train', 2);
      await release.stage.bound('train', 2);
      await release.stage.run('kubectl delete pod train-1 --force');
      await reaches(release, 'tutti_reserved_capacity', { kind: 'repair', resource: 'cpu' }, 0.001);
    },
  },
  {
    alert: 'TuttiRepairFailing',
    component: 'scheduler',
    minutes: 30,
    begin: installed,
    produce: async (release: TroubledRelease): Promise<void> => {
      await bindHalf(release);
      await release.stage.run('kubectl delete pods --all --force; kubectl delete pg train');
      await reaches(release, 'tutti_repairs_total', { outcome: 'lost' }, 1);
    },
  },
  {
    alert: 'TuttiMissedHints',
    component: 'scheduler',
    minutes: 30,
    notProduced: 'everything is retried only after five minutes, and none of our plugins misses an event',
    begin: installed,
    produce: (release) => release.stage.createGang('train', 2, { cpu: '3' }),
  },
  {
    alert: 'TuttiCrdIncompatible',
    component: 'scheduler',
    minutes: 30,
    begin: nothing,
    produce: async (release: TroubledRelease): Promise<void> => {
      await release.stage.run('kubectl apply --filename test/fixtures/charts/scheduler-plugins/crds');
      await release.install({ crds: { install: false } });
      await release.runBoth();
      await release.stage.createGang('train', 2);
      await release.stage.prints('kubectl get events --field-selector reason=StatusDropped', /StatusDropped/);
      await reaches(release, 'scheduler_podgroup_schedule_attempts_total', { result: 'scheduled' }, 1);
    },
  },
];
