// Runs Kubernetes' own end-to-end specs of scheduling on a real API server with simulated nodes, once with kube-scheduler and once with
// Tutti as the default scheduler: `npm run e2e-scheduling -- --focus SchedulerPreemption`. Prints both lists. Exits with 1 if a spec passes
// with kube-scheduler and not with Tutti, except for the known differences, and with 3 if Go is missing.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Command } from 'commander';
import { duration, wholeNumber } from '../src/cli/flag-values.ts';
import { openCluster, untilEmpty } from '../test/e2e-scheduling/cluster.ts';
import { SpecProgram } from '../test/e2e-scheduling/spec-program.ts';
import { regressions } from '../test/e2e-scheduling/spec-report.ts';
import type { SpecResult } from '../test/e2e-scheduling/spec-report.ts';
import { provideBinaries } from '../test/planes/real/build.ts';
import type { RealPlane } from '../test/planes/real/real-plane.ts';
import { Installation } from '../test/real/installation.ts';

type SchedulerName = 'kube-scheduler' | 'tutti';

const schedulerName = 'default-scheduler';
/** API calls per second of either scheduler, so that it does not wait for them. */
const rates = { qps: 5_000, burst: 10_000 };

const preemptsSome = (preemptor: string): string =>
  '[sig-scheduling] WorkloadAwarePreemption [FeatureGate:GenericWorkload] workload-aware preemption should preempt ' +
  `partial group with Single disruption mode by ${preemptor} [Beta] [Feature:OffByDefault]`;
const neverInPart =
  'The victims are a gang of two with minCount 2. kube-scheduler evicts one of them and leaves the other without its quorum. ' +
  'Tutti evicts single members only beyond minCount, and then the gang as a whole.';
/** spec that Tutti does not pass on purpose -> why */
const knownDifferences = new Map([
  [preemptsSome('a pod group'), neverInPart],
  [preemptsSome('an individual pod'), neverInPart],
]);

interface Flags {
  readonly focus?: string;
  readonly nativeGangs: boolean;
  readonly featureGates: readonly string[];
  readonly nodes: number;
  readonly timeout: number;
  readonly profile: object;
}

const flags = new Command('e2e-scheduling')
  .description("Compare Tutti with kube-scheduler in Kubernetes' own end-to-end specs of scheduling.")
  .option(
    '--focus <regexp>',
    'Regular expression of Go that the names of the specs match (default: preemption and predicates).',
  )
  .option(
    '--native-gangs',
    "Enable the feature gate GenericWorkload; the default focus is the specs of Kubernetes' own PodGroups.",
    false,
  )
  .option(
    '--feature-gates <names>',
    'Further feature gates to enable, separated by commas.',
    (text) => text.split(','),
    [],
  )
  .option('--nodes <count>', 'Number of nodes.', wholeNumber(2), 3)
  .option('--timeout <duration>', 'How long a spec may take. Some wait for five minutes.', duration, 10 * 60_000)
  .option('--profile <json>', "Fields of Tutti's profile, such as plugins.", (text) => JSON.parse(text) as object, {})
  .parse()
  .opts<Flags>();

const gates = [...(flags.nativeGangs ? ['GenericWorkload'] : []), ...flags.featureGates];
const focus =
  flags.focus ??
  (flags.nativeGangs
    ? String.raw`\[sig-scheduling\] (GangScheduling|Workload|WorkloadAwarePreemption) `
    : 'Scheduler(Preemption|Predicates)');
const programs = await provideBinaries(
  ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok', 'e2e-scheduling'],
  { mayBuild: true },
);
if (programs.state === 'missing') {
  console.error(programs.message);
  process.exit(3);
}
const { paths } = programs;
const folder = await mkdtemp(join(tmpdir(), 'tutti-e2e-scheduling-'));
const program = new SpecProgram(paths['e2e-scheduling'], folder);
const specs = await program.list(focus);
console.log(`${specs.length} specs match ${focus}; reports and logs are in ${folder} unless Tutti passes`);

// The specs spend most of their time waiting, so that both runs share the machine.
const [expected, actual] = await Promise.all([run('kube-scheduler'), run('tutti')]);
print('kube-scheduler', expected);
print('tutti', actual);
const failed = regressions(expected, actual);
const worse = failed.filter((name) => !knownDifferences.has(name));
for (const name of failed)
  if (knownDifferences.has(name)) console.log(`\nknown difference: ${name}\n  ${knownDifferences.get(name)}`);
console.log(`\nspecs that pass with kube-scheduler and not with Tutti: ${worse.length}`);
for (const name of worse) console.log(`  ${name}`);
if (worse.length === 0) await rm(folder, { recursive: true });
process.exit(worse.length === 0 && specs.length > 0 ? 0 : 1);

/** Runs the specs one after the other on a plane of their own. */
async function run(scheduler: SchedulerName): Promise<SpecResult[]> {
  const plane = await openCluster({ paths, featureGates: gates }, flags.nodes);
  let stop: (() => Promise<void>) | undefined;
  try {
    stop = await start(scheduler, plane);
    await mkdir(join(folder, scheduler));
    const results: SpecResult[] = [];
    for (const [index, name] of specs.entries()) {
      await untilEmpty(plane);
      const result = await program.run(name, {
        label: `${scheduler}/${String(index + 1).padStart(2, '0')}`,
        kubeconfig: plane.kubeconfigPath,
        timeoutMs: flags.timeout,
      });
      results.push(result);
      console.log(`${scheduler.padEnd(14)} ${String(index + 1).padStart(2)} ${lineOf(result)}`);
    }
    return results;
  } finally {
    await stop?.();
    await plane.stop();
  }
}

/** Starts the scheduler of pods without another schedulerName; returns a function that stops it. */
async function start(scheduler: SchedulerName, plane: RealPlane): Promise<() => Promise<void>> {
  if (scheduler === 'kube-scheduler') {
    await plane.startPeer(scheduler, { schedulerName, ...rates });
    return () => plane.stopPeer(scheduler);
  }
  const config = join(plane.folder, 'tutti.json');
  const configuration = {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig: plane.kubeconfigPath, ...rates },
    profiles: [{ schedulerName, ...flags.profile }],
  };
  await writeFile(config, JSON.stringify(configuration));
  const tutti = new Installation(plane);
  const child = await tutti.startScheduler({ parameters: ['--config', config] });
  return async () => {
    for (const problem of await tutti.stop()) console.error(problem);
    await writeFile(join(folder, 'tutti.log'), child.stderr);
  };
}

function print(scheduler: SchedulerName, results: readonly SpecResult[]): void {
  const count = (state: SpecResult['state']): string =>
    `${results.filter((result) => result.state === state).length} ${state}`;
  console.log(`\n${scheduler}: ${count('passed')}, ${count('failed')}, ${count('skipped')}`);
  for (const result of results) console.log(`  ${lineOf(result)}`);
}

function lineOf({ name, state, seconds, reason }: SpecResult): string {
  return `${state.padEnd(7)} ${seconds.toFixed(0).padStart(4)} s  ${name}${reason === '' ? '' : `\n      ${reason}`}`;
}
