import { expect, it } from 'vitest';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../planes/real/real-plane.ts';
import { claimBlocks } from './block-claims.ts';
import { PageStage } from './page-stage.ts';

/** On a real API server without controllers, so Deployments have no pods: the test runs their processes with the chart's arguments and permissions. */

const programs = await provideForSuite('the pages for administrators', [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
]);
const tools = await provideForSuite('the configuration of Prometheus in monitoring.md', ['promtool']);

function openPlane(controllerManager: boolean): ReturnType<typeof openRealPlane> {
  if (programs.state === 'missing') throw new Error(programs.message);
  return openRealPlane({ paths: programs.paths, controllerManager });
}

const play = it.skipIf(programs.state === 'missing');

interface StageOptions {
  readonly controllerManager?: boolean;
  /** The PodGroup CRD exists before the release. Default: false. */
  readonly hasDefinition?: boolean;
}

/** Opens a stage with two nodes, and always closes it. */
async function onStage(
  act: (stage: PageStage) => Promise<void>,
  { controllerManager = false, hasDefinition = false }: StageOptions = {},
): Promise<void> {
  const stage = await PageStage.open(await openPlane(controllerManager));
  try {
    if (!hasDefinition) await stage.removeDefinition();
    await stage.addNodes('node-1', 'node-2');
    await act(stage);
  } finally {
    await stage.close();
  }
}

/** Runs the processes of the release's pods; resolves when its scheduler leads or stands by. */
async function run(stage: PageStage, { name = 'tutti', controller = true } = {}): Promise<void> {
  const release = stage.release(name);
  const scheduler = await release.run('scheduler', '3.17');
  if (controller) await release.run('controller', '3.17');
  await scheduler.said(/"message":"(?:scheduling|standing by)/);
}

function install(stage: PageStage): Promise<string> {
  return stage.run('helm install tutti charts/tutti --namespace tutti-system --create-namespace');
}

play('docs/install.md', () =>
  onStage(async (stage) => {
    await stage.play(claimBlocks('docs/install.md', 'console', 'What to set'));
    // The second block needs pods.
    await stage.play(claimBlocks('docs/install.md', 'console', 'With Helm').slice(0, 1));
    await run(stage);
    await stage.play(claimBlocks('docs/install.md', 'console', 'Try it'));
  }),
);

play('docs/security.md', () =>
  onStage(
    async (stage) => {
      await stage.write(claimBlocks('docs/security.md', 'yaml'));
      const [limiting, bypassing] = claimBlocks('docs/security.md', 'console');
      await stage.play([limiting!]);
      // Quotas and policies take effect a moment after their creation.
      const denied = 'kubectl create --namespace team-a --dry-run=server --filename bypass.yaml';
      await stage.run(
        `kubectl run bypass --image busybox --overrides '{"spec": {"nodeName": "node-1"}}' --dry-run=client --output yaml >bypass.yaml`,
      );
      await stage.prints(denied, /denied request/);
      await stage.play([bypassing!]);
      const used = 'kubectl get resourcequota tenant --namespace team-a --output jsonpath="{.status.used}"';
      // If the quota controller misses the CRD at its start, it finds it 30 s later and counts at its next full resync.
      await stage.prints(used, /"count\/podgroups.scheduling.x-k8s.io":"0"/, 150_000);
      // The quota controller counts a resource only if the CRD exists while it starts, or after up to 30 s.
    },
    { controllerManager: true, hasDefinition: true },
  ),
);

play('other-ways-to-install.md', async () => {
  await onStage((stage) =>
    stage.play(claimBlocks('docs/tasks/administrators/other-ways-to-install.md', 'console', 'Plain manifests')),
  );
  await onStage(async (stage) => {
    await stage.play(
      claimBlocks('docs/tasks/administrators/other-ways-to-install.md', 'console', 'From a Git repository'),
    );
    await stage.play(
      claimBlocks('docs/tasks/administrators/other-ways-to-install.md', 'console', 'Without a way to the internet'),
    );
  });
});

play('CH8 crd-from-another-project.md', () =>
  onStage(async (stage) => {
    await stage.run('kubectl apply --filename test/fixtures/charts/scheduler-plugins/crds');
    await stage.play(
      claimBlocks(
        'docs/tasks/administrators/crd-from-another-project.md',
        'console',
        'Use a PodGroup CRD from another project',
      ).slice(0, 1),
    );
    const [leave, dropped] = claimBlocks(
      'docs/tasks/administrators/crd-from-another-project.md',
      'console',
      'Leave it to its owner',
    );
    await stage.play([leave!]);
    await run(stage);
    await stage.createGang('train', 2, { cpu: '1500m' });
    await stage.prints('kubectl describe podgroups.scheduling.x-k8s.io train', /Scheduled .*StatusDropped/s);
    await stage.play([dropped!]);
    await stage.play(
      claimBlocks('docs/tasks/administrators/crd-from-another-project.md', 'console', "Apply Tutti's over it"),
    );
    await stage.play(claimBlocks('docs/tasks/administrators/crd-from-another-project.md', 'console', 'Take it over'));
  }),
);

play('upgrade.md', () =>
  onStage(async (stage) => {
    await install(stage);
    await stage.play(claimBlocks('docs/tasks/administrators/upgrade.md', 'console'));
  }),
);

play('uninstall.md', () =>
  onStage(
    async (stage) => {
      await install(stage);
      await run(stage);
      await stage.createGang('train', 2, { cpu: '3' });
      await stage.prints('kubectl get pg', /Unschedulable/);
      await stage.play(claimBlocks('docs/tasks/administrators/uninstall.md', 'console'));
    },
    { controllerManager: true },
  ),
);

play('two-releases.md', () =>
  onStage(async (stage) => {
    await stage.write(claimBlocks('docs/tasks/administrators/two-releases.md', 'yaml'));
    const [installing, looking, checking] = claimBlocks('docs/tasks/administrators/two-releases.md', 'console');
    await stage.play([installing!]);
    await run(stage);
    await run(stage, { name: 'second', controller: false });
    await stage.createGang('red', 2);
    await stage.createGang('blue', 2, { schedulerName: 'second' });
    await stage.prints('kubectl get pg', /blue .*QuorumScheduled.*\n.*red .*QuorumScheduled/);
    await stage.play([looking!, checking!]);
  }),
);

play('beside-kube-scheduler.md', () =>
  onStage(async (stage) => {
    await stage.write(claimBlocks('docs/tasks/administrators/beside-kube-scheduler.md', 'yaml'));
    await install(stage);
    await run(stage);
    await stage.createGang('train', 2, { cpu: '100m' });
    await stage.bound('train', 2);
    await stage.run('kubectl run web --image nginx');
    await stage.play(claimBlocks('docs/tasks/administrators/beside-kube-scheduler.md', 'console'));
  }),
);

play('default-scheduler.md', () =>
  onStage(async (stage) => {
    await stage.write(claimBlocks('docs/tasks/administrators/default-scheduler.md', 'yaml'));
    await stage.play(claimBlocks('docs/tasks/administrators/default-scheduler.md', 'console'));
  }),
);

play('high-availability.md', () =>
  onStage(async (stage) => {
    await stage.write(claimBlocks('docs/tasks/administrators/high-availability.md', 'yaml'));
    const [installing, looking, upgrading] = claimBlocks('docs/tasks/administrators/high-availability.md', 'console');
    await stage.play([installing!]);
    await run(stage);
    await run(stage);
    await stage.prints('kubectl --namespace tutti-system get leases --output name', /controller\n.*scheduler/);
    await stage.play([looking!, upgrading!]);
    expect(await stage.run('kubectl --namespace tutti-system get configmaps --output yaml')).toContain(
      'renewDeadline: 4s',
    );
  }),
);

play('kueue.md', () =>
  onStage(async (stage) => {
    await install(stage);
    await run(stage);
    const [applying, waiting, started] = claimBlocks('docs/tasks/administrators/kueue.md', 'console');
    await stage.play([applying!]);
    await stage.prints('kubectl get pg train', /SchedulingGated/);
    await stage.play([waiting!]);
    // Do what Kueue does when there is quota.
    for (const pod of ['train-0', 'train-1']) {
      await stage.run(
        `kubectl patch pod ${pod} --type json --patch '[{"op":"remove","path":"/spec/schedulingGates"}]'`,
      );
    }
    await stage.prints('kubectl get pg train', /QuorumScheduled/);
    await stage.play([started!]);
  }),
);

play('autoscalers.md', () =>
  onStage(async (stage) => {
    await install(stage);
    await run(stage);
    await stage.createGang('train', 3, { cpu: '1500m' });
    await stage.createGang('early', 1, { minMember: 2 });
    await stage.prints('kubectl get pods --output yaml', /reason: WaitingForGang/);
    await stage.prints('kubectl get pods --output yaml', /(reason: Unschedulable.*){3}/s);
    await stage.play(claimBlocks('docs/tasks/administrators/autoscalers.md', 'console'));
  }),
);

/** The kinds of the Prometheus operator, as far as the API server needs them. */
const operatorKinds = ['ServiceMonitor', 'PrometheusRule'].map((kind) => {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.monitoring.coreos.com` },
    spec: {
      group: 'monitoring.coreos.com',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
});

play('monitoring.md', () =>
  onStage(async (stage) => {
    for (const definition of operatorKinds) {
      await stage.plane.client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    }
    await stage.prints('kubectl get servicemonitors,prometheusrules', /No resources found/);
    await stage.run('kubectl create namespace monitoring');
    await stage.write(claimBlocks('docs/tasks/administrators/monitoring.md', 'yaml'));
    await stage.play(claimBlocks('docs/tasks/administrators/monitoring.md', 'console'));
    const rule = await stage.run('kubectl get prometheusrule tutti --namespace tutti-system --output yaml');
    expect(rule).toContain('runbook_url: https://git.example.com/tutti/docs/runbooks/tuttidown');
    expect(rule).not.toContain('TuttiMissedHints');
    if (tools.state === 'missing') return;
    expect(await stage.run(`${tools.paths.promtool} check config --syntax-only prometheus.yaml`)).toContain(
      'SUCCESS: prometheus.yaml is valid',
    );
    expect(await stage.run(`${tools.paths.promtool} check rules tutti-alerts.yaml`)).toContain(
      'SUCCESS: 17 rules found',
    );
  }),
);

play('priorities.md', () =>
  onStage(
    async (stage) => {
      await stage.write(claimBlocks('docs/tasks/administrators/priorities.md', 'yaml'));
      await install(stage);
      await run(stage);
      await stage.play(claimBlocks('docs/tasks/administrators/priorities.md', 'console'));
    },
    { controllerManager: true },
  ),
);

play('large-jobs.md', () =>
  onStage(
    async (stage) => {
      await stage.write(claimBlocks('docs/tasks/administrators/large-jobs.md', 'yaml'));
      await install(stage);
      const [enabling, ...others] = claimBlocks('docs/tasks/administrators/large-jobs.md', 'console');
      await stage.play([enabling!]);
      await run(stage);
      await stage.play(others);
    },
    { controllerManager: true },
  ),
);
