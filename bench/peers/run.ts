/** `npm run bench:peers`: Tutti and its peers, one after the other, each on a control plane of its own. */
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../../src/base/random.ts';
import type { BinaryName } from '../../test/planes/real/binaries.ts';
import { provideBinaries } from '../../test/planes/real/build.ts';
import { BenchPlane } from './bench-plane.ts';
import type { PlaneBinaries } from './bench-plane.ts';
import type { Contender, ContenderName } from './contenders/contender.ts';
import { binaryOf, createContender } from './contenders/create-contender.ts';
import { describeMachine, versionOf } from './machine.ts';
import { measureRun } from './measure-run.ts';
import type { RunLimits } from './measure-run.ts';
import { isWanted, parseOptions, usage } from './options.ts';
import type { BenchOptions } from './options.ts';
import { planRuns } from './plan-runs.ts';
import type { PlannedRun } from './plan-runs.ts';
import { resultsSection, withResultsSection } from './report.ts';
import { formatResults } from './results.ts';
import type { BenchResults, RunFigures, RunResult } from './results.ts';
import { workloadsOf } from './workload.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const recordedPath = join(root, 'bench/results/peers.json');
const pagePath = join(root, 'docs/performance.md');

const contenderNames: readonly ContenderName[] = ['tutti', 'kube-scheduler', 'scheduler-plugins'];
const quickLimits: RunLimits = { limitMs: 60_000, stallMs: 30_000 };
/** Members that wait for siblings at Permit are released after a minute. */
const fullLimits: RunLimits = { limitMs: 600_000, stallMs: 90_000 };

async function main(options: BenchOptions): Promise<void> {
  if (options.from !== undefined) {
    const path = resolve(options.from);
    await present(JSON.parse(await readFile(path, 'utf8')) as BenchResults, path, options);
    return;
  }
  const plan = planRuns(workloadsOf(options), contenderNames, options.rounds, seededRandom(options.seed)).filter(
    ({ contender, workload }) => isWanted(options, contender, workload.id),
  );
  console.log(`${plan.length} runs in an order drawn with --seed ${options.seed}`);
  if (options.list) {
    for (const { round, workload, contender } of plan) console.log(`round ${round}  ${contender}/${workload.id}`);
    return;
  }
  const cli = resolve(root, options.cli);
  await access(cli).catch(() => {
    throw new Error(`there is no ${cli}: run npm run build`);
  });
  const names = contenderNames.filter((name) => plan.some(({ contender }) => contender === name));
  const needed = names.map((name) => binaryOf[name]).filter((name) => name !== undefined);
  const binaries = await provideBinaries(['etcd', 'kube-apiserver', ...needed], { mayBuild: true });
  if (binaries.state === 'missing') throw new Error(binaries.message);

  const startedAt = new Date().toISOString();
  const folder = join(root, '.cache/bench', startedAt.replaceAll(':', '-'));
  await mkdir(folder, { recursive: true });
  const paths = {
    root,
    cli,
    binary: (name: BinaryName) => (binaries.paths as Readonly<Record<BinaryName, string>>)[name],
    ...(options.profile && { profileFolder: folder }),
  };
  const contenders = await Promise.all(names.map((name) => createContender(name, paths)));
  /** Filled as the runs end. */
  const runs: RunResult[] = [];
  const results: BenchResults = {
    date: startedAt,
    quick: options.quick,
    seed: options.seed,
    rounds: options.rounds,
    machine: await describeMachine(),
    versions: {
      ...Object.fromEntries(contenders.map(({ name, version }) => [name, version])),
      'kube-apiserver': await versionOf(binaries.paths['kube-apiserver']),
      etcd: await versionOf(binaries.paths.etcd),
    },
    workloads: workloadsOf(options).filter(({ id }) => plan.some(({ workload }) => workload.id === id)),
    runs,
  };
  const resultsPath = join(folder, 'peers.json');
  for (const [index, planned] of plan.entries()) {
    const contender = contenders.find(({ name }) => name === planned.contender)!;
    const before = performance.now();
    const run = await runOnce(binaries.paths, contender, planned, options.quick ? quickLimits : fullLimits);
    runs.push(run);
    const seconds = ((performance.now() - before) / 1000).toFixed(0);
    console.log(`${index + 1}/${plan.length}  round ${run.round}  ${describeRun(run)}  [${seconds} s]`);
    await writeFile(resultsPath, formatResults(results));
  }
  await present(results, resultsPath, options);
  if (options.profile) console.log(`profiles: ${relative(process.cwd(), folder)}/*.cpuprofile`);
}

async function present(results: BenchResults, path: string, { record }: BenchOptions): Promise<void> {
  const section = resultsSection(results);
  console.log(`\n${section}\n\nresults: ${relative(process.cwd(), path)}`);
  if (!record) return;
  await mkdir(dirname(recordedPath), { recursive: true });
  await writeFile(recordedPath, formatResults(results));
  await writeFile(pagePath, withResultsSection(await readFile(pagePath, 'utf8'), section));
  console.log(`recorded: ${relative(process.cwd(), recordedPath)}, ${relative(process.cwd(), pagePath)}`);
}

/** A run that fails is a result as well, and the others go on. */
async function runOnce(
  paths: PlaneBinaries,
  contender: Contender,
  { round, workload }: PlannedRun<ContenderName>,
  limits: RunLimits,
): Promise<RunResult> {
  const head = { round, workload: workload.id, contender: contender.name };
  try {
    const plane = await BenchPlane.open(paths);
    try {
      return { ...head, figures: await measureRun(plane, contender, workload, limits) };
    } finally {
      await plane.close();
    }
  } catch (error) {
    return { ...head, failure: error instanceof Error ? error.message : String(error) };
  }
}

function describeRun({ contender, workload, figures, failure }: RunResult): string {
  const name = `${contender}/${workload}`.padEnd(48);
  return figures === undefined ? `${name} FAILED: ${failure}` : `${name} ${describeFigures(figures)}`;
}

function describeFigures(figures: RunFigures): string {
  return [
    `${figures.podsPerSecond.toFixed(0)} pods/s`,
    `${figures.wholeGangs} whole, ${figures.partialGangs} partial${figures.complete ? '' : ', INCOMPLETE'}`,
    `CPU ${figures.cpuMsPerPod.toFixed(2)} ms a pod`,
    `${figures.peakMb.toFixed(0)} MB`,
  ].join(', ');
}

let options: BenchOptions;
if (process.argv.includes('--help')) {
  console.log(usage);
  process.exit(0);
}
try {
  options = parseOptions(process.argv.slice(2), () => Math.floor(Math.random() * 1e6) + 1);
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  process.exit(2);
}
try {
  await main(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
