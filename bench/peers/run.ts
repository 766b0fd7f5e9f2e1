/** `npm run bench:peers`: measures Tutti and its peers one after the other, each on its own control plane. */
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../../src/base/random.ts';
import type { BinaryName } from '../../test/planes/real/binaries.ts';
import { provideBinaries } from '../../test/planes/real/build.ts';
import type { Contender, ContenderName } from './contenders/contender.ts';
import { binaryOf, createContender } from './contenders/create-contender.ts';
import { buildHash } from './build-hash.ts';
import { LoadProcess } from './load/load-process.ts';
import { describeMachine, versionOf } from './machine.ts';
import { measureRun } from './measure-run.ts';
import type { RunLimits } from './measure-run.ts';
import { isWanted, parseOptions, usage } from './options.ts';
import type { BenchOptions } from './options.ts';
import type { PreemptionFigures } from './figures.ts';
import { planRuns } from './plan-runs.ts';
import type { PlannedRun } from './plan-runs.ts';
import { PlaneSeeds } from './plane-seeds.ts';
import { recordName, resultsPage, resultsSection } from './report.ts';
import { checkResumable, missingRuns, resumedSelection } from './resume.ts';
import { formatResults } from './results.ts';
import type { BenchResults, RunFigures, RunResult } from './results.ts';
import { contendersOf, selectionOf } from './selection.ts';
import { workloadsOf } from './workload.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const recordFolder = join(root, 'bench/results');

const quickLimits: RunLimits = { limitMs: 60_000, stallMs: 30_000 };
/** The stall limit exceeds one minute, after which members that wait at Permit are rejected. */
const fullLimits: RunLimits = { limitMs: 600_000, stallMs: 90_000 };

async function main(options: BenchOptions): Promise<void> {
  if (options.from !== undefined) {
    const path = resolve(options.from);
    await present(await readResults(path), path, options);
    return;
  }
  const begun = options.resume === undefined ? undefined : await readResults(resolve(options.resume));
  const selection = begun === undefined ? selectionOf(options) : resumedSelection(begun, options);
  const { seed, rounds, quick } = selection;
  const plan = planRuns(workloadsOf(selection), contendersOf(selection), rounds, seededRandom(seed)).filter(
    ({ contender, workload }) => isWanted(selection, contender, workload.id),
  );
  const missing = missingRuns(plan, begun?.runs ?? []);
  const still = begun === undefined ? '' : `, of which ${missing.length} are missing`;
  console.log(`${plan.length} runs in the order of --seed ${seed}${still}`);
  if (options.list) {
    for (const { round, workload, contender } of missing) console.log(`round ${round}  ${contender}/${workload.id}`);
    return;
  }
  const cli = resolve(root, options.cli);
  await access(cli).catch(() => {
    throw new Error(`${cli} does not exist: run npm run build`);
  });
  const names = contendersOf(selection).filter((name) => plan.some(({ contender }) => contender === name));
  const needed = names.map((name) => binaryOf[name]).filter((name) => name !== undefined);
  const binaries = await provideBinaries(['etcd', 'kube-apiserver', ...needed], { mayBuild: true });
  if (binaries.state === 'missing') throw new Error(binaries.message);

  const startedAt = new Date().toISOString();
  const resultsPath =
    options.resume === undefined
      ? join(root, '.cache/bench', startedAt.replaceAll(':', '-'), 'peers.json')
      : resolve(options.resume);
  const folder = dirname(resultsPath);
  const paths = {
    root,
    cli,
    binary: (name: BinaryName) => (binaries.paths as Readonly<Record<BinaryName, string>>)[name],
    ...(selection.profile && { profileFolder: folder }),
  };
  const contenders = await Promise.all(names.map((name) => createContender(name, paths)));
  /** Each run adds its result when it ends. */
  const runs: RunResult[] = [...(begun?.runs ?? [])];
  const results: BenchResults = {
    date: begun?.date ?? startedAt,
    ...selection,
    machine: await describeMachine(),
    versions: {
      ...Object.fromEntries(contenders.map(({ name, version }) => [name, version])),
      'kube-apiserver': await versionOf(binaries.paths['kube-apiserver']),
      etcd: await versionOf(binaries.paths.etcd),
    },
    workloads: workloadsOf(selection).filter(({ id }) => plan.some(({ workload }) => workload.id === id)),
    runs,
  };
  if (begun !== undefined) checkResumable(begun, results);
  await mkdir(folder, { recursive: true });
  const build = await buildHash(cli);
  const seeds = await PlaneSeeds.open(binaries.paths);
  try {
    for (const planned of missing) {
      const contender = contenders.find(({ name }) => name === planned.contender)!;
      const before = performance.now();
      if ((await buildHash(cli)) !== build) {
        throw new Error(
          `${cli} has changed during the benchmark; restore the build and continue with --resume ${resultsPath}`,
        );
      }
      const run = await runOnce(seeds, contender, planned, quick ? quickLimits : fullLimits);
      runs.push(run);
      const seconds = ((performance.now() - before) / 1000).toFixed(0);
      console.log(`${runs.length}/${plan.length}  round ${run.round}  ${describeRun(run)}  [${seconds} s]`);
      await writeResults(resultsPath, results);
    }
  } finally {
    await seeds.close();
  }
  await present(results, resultsPath, options);
  if (selection.profile) console.log(`profiles: ${relative(process.cwd(), folder)}/*.cpuprofile`);
}

async function readResults(path: string): Promise<BenchResults> {
  return JSON.parse(await readFile(path, 'utf8')) as BenchResults;
}

/** Replaces the file atomically, so that an interrupted execution can be resumed from it. */
async function writeResults(path: string, results: BenchResults): Promise<void> {
  await writeFile(`${path}.new`, formatResults(results));
  await rename(`${path}.new`, path);
}

async function present(results: BenchResults, path: string, { record }: BenchOptions): Promise<void> {
  console.log(`\n${resultsSection(results)}\n\nresults: ${relative(process.cwd(), path)}`);
  if (!record) return;
  await mkdir(recordFolder, { recursive: true });
  const name = recordName(results);
  const recordedPath = join(recordFolder, `${name}.json`);
  const pagePath = join(recordFolder, `${name}.md`);
  await writeFile(recordedPath, formatResults(results));
  await writeFile(pagePath, resultsPage(results));
  console.log(`recorded: ${relative(process.cwd(), recordedPath)}, ${relative(process.cwd(), pagePath)}`);
}

/** Measures a run. A failure is a result as well, so that the other runs continue. */
async function runOnce(
  seeds: PlaneSeeds,
  contender: Contender,
  { round, workload }: PlannedRun<ContenderName>,
  limits: RunLimits,
): Promise<RunResult> {
  const head = { round, workload: workload.id, contender: contender.name };
  // The load generator starts at the same time as the plane.
  const load = new LoadProcess();
  try {
    const plane = await seeds.openPlane({ ...workload, groups: contender.groupsFor(workload) });
    try {
      return { ...head, figures: await measureRun(plane, load, contender, workload, limits) };
    } finally {
      await plane.close();
    }
  } catch (error) {
    return { ...head, failure: error instanceof Error ? error.message : String(error) };
  } finally {
    await load.close();
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
    `CPU ${figures.cpuMsPerPod.toFixed(2)} ms per pod`,
    `${figures.peakMb.toFixed(0)} MB`,
    ...(figures.preemption === undefined ? [] : [describePreemption(figures, figures.preemption)]),
  ].join(', ');
}

function describePreemption({ seconds }: RunFigures, { evicted, evictedInVain, tornGangs }: PreemptionFigures): string {
  const torn = tornGangs === undefined ? '' : `, ${tornGangs} gangs torn`;
  return `${seconds.toFixed(2)} s, ${evicted} evicted, ${evictedInVain} in vain${torn}`;
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
