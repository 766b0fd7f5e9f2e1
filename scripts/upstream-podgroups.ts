// Plays the cases of Kubernetes' integration tests of PodGroups on a real API server: `npm run upstream-podgroups -- --scheduler
// kube-scheduler` proves that the cases are as upstream has them, and `--scheduler tutti` compares Tutti with them. A case in which Tutti
// differs on purpose states what it does instead. Exits with 1 if a case fails, and with 3 if Go is missing.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { Command, Option } from 'commander';
import { parse, stringify } from 'yaml';
import { provideBinaries } from '../test/planes/real/build.ts';
import { openRealPlane } from '../test/planes/real/real-plane.ts';
import { schedulerName } from '../test/scenarios/pod-manifest.ts';
import type { UpstreamCase, UpstreamTest } from '../test/scenarios/upstream-podgroup-case.ts';
import { podGroupPreemptionTests } from '../test/scenarios/upstream-podgroup-preemption.ts';
import { podGroupQueueingTests, queueingCasesNotHere } from '../test/scenarios/upstream-podgroup-queueing.ts';
import { startTutti, upstreamScenario } from '../test/scenarios/upstream-podgroup-stage.ts';
import type { StartScheduler } from '../test/scenarios/upstream-podgroup-stage.ts';
import { podGroupTests, podGroupTestsNotHere } from '../test/scenarios/upstream-podgroups.ts';

interface Flags {
  readonly scheduler: 'kube-scheduler' | 'tutti';
  readonly cases: RegExp;
  readonly featureGates: readonly string[];
}

const { scheduler, cases, featureGates } = new Command('upstream-podgroups')
  .description("Play the cases of Kubernetes' integration tests of PodGroups.")
  .addOption(
    new Option('--scheduler <name>', 'The scheduler.').choices(['kube-scheduler', 'tutti']).default('kube-scheduler'),
  )
  .option('--cases <regexp>', 'Regular expression that the names of the cases match.', (text) => new RegExp(text), /./)
  .option(
    '--feature-gates <names>',
    'Feature gates to enable besides GenericWorkload, separated by commas.',
    (text) => text.split(','),
    [],
  )
  .parse()
  .opts<Flags>();

const programs = await provideBinaries(['etcd', 'kube-apiserver', 'kube-scheduler'], { mayBuild: true });
if (programs.state === 'missing') {
  console.error(programs.message);
  process.exit(3);
}
const plane = await openRealPlane({ paths: programs.paths, featureGates: ['GenericWorkload', ...featureGates] });

const startScheduler: Readonly<Record<Flags['scheduler'], StartScheduler>> = {
  async 'kube-scheduler'(stage, proxy) {
    const kubeconfig = join(plane.folder, 'through-proxy');
    const config = parse(await readFile(plane.kubeconfigPath, 'utf8')) as object;
    const clusters = [{ name: 'real', cluster: { server: proxy.endpoint.server } }];
    await writeFile(kubeconfig, stringify({ ...config, clusters }));
    stage.atEnd(() => plane.stopPeer('kube-scheduler'));
    await plane.startPeer('kube-scheduler', { schedulerName, kubeconfig, qps: 5_000, burst: 10_000 });
    stage.schedules = true;
  },
  tutti: startTutti,
};

const results = { passed: 0, failed: 0, differs: 0, skipped: 0 };
try {
  for (const test of [...podGroupTests, ...podGroupQueueingTests, ...podGroupPreemptionTests]) {
    for (const each of test.cases) {
      if (!cases.test(each.name)) continue;
      const started = performance.now();
      const { state, reason } = await resultOf(test, each);
      results[state]++;
      const seconds = ((performance.now() - started) / 1000).toFixed(0);
      console.log(
        `${state.padEnd(7)} ${seconds.padStart(3)} s  ${test.test}: ${each.name}${reason && `\n      ${reason}`}`,
      );
    }
  }
} finally {
  await plane.stop();
}
console.log(
  `\n${scheduler}: ${Object.entries(results)
    .map(([state, count]) => `${count} ${state}`)
    .join(', ')}`,
);
console.log(`not here: ${[...Object.keys(podGroupTestsNotHere), ...queueingCasesNotHere].join('; ')}`);
process.exit(results.failed === 0 && results.passed > 0 ? 0 : 1);

async function resultOf(
  test: UpstreamTest,
  each: UpstreamCase,
): Promise<{ readonly state: keyof typeof results; readonly reason: string }> {
  const { gates = [], withoutGates = [], inTutti } = each;
  const missing = gates.filter((gate) => !featureGates.includes(gate));
  if (missing.length > 0) return { state: 'skipped', reason: `it needs ${missing.join(', ')}` };
  const surplus = withoutGates.filter((gate) => featureGates.includes(gate));
  if (surplus.length > 0) return { state: 'skipped', reason: `it needs ${surplus.join(', ')} to be off` };
  const other = scheduler === 'tutti' ? inTutti : undefined;
  try {
    await upstreamScenario(test, { ...each, ...other }, startScheduler[scheduler]).run(plane);
    return other === undefined ? { state: 'passed', reason: '' } : { state: 'differs', reason: other.why };
  } catch (error) {
    return { state: 'failed', reason: String(error) };
  }
}
