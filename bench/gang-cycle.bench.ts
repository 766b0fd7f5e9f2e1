/**
 * Measures dry runs of gangs with the SchedulerCore, in process, on 5,000 nodes with 20,000 pods. All default plugins are enabled, and every
 * node is filtered and scored. `node bench/gang-cycle.bench.ts [part of a title]`
 */
import process from 'node:process';
import { Bench } from 'tinybench';
import type { Plugin } from '../src/framework/plugin.ts';
import { skip } from '../src/framework/status.ts';
import { CrowdedCore } from './crowded-core.ts';

/** Returns a dry run of a new gang, which must place all members. */
function gangOf(crowd: CrowdedCore, size: number, cpu: string, memory = '2Gi'): () => void {
  const gang = crowd.gang(size, () => ({ cpu, memory }));
  return () => {
    const { fits, plan } = crowd.core.dryRun({ kind: 'gang', gang });
    if (!fits || plan.length !== size) throw new Error('the gang was not placed');
  };
}

/** A plugin that reads other nodes but skips these pods. */
const alwaysSkips: Plugin = {
  name: 'AlwaysSkips',
  readsOtherNodes: true,
  preFilter: () => skip,
  filter: () => undefined,
};

const crowd = new CrowdedCore();
const small = Array.from({ length: 6000 }, (_, i) => gangOf(crowd, 3, `${1000 + i}m`));
let next = 0;
const cases: Readonly<Record<string, () => void>> = {
  'gang of 3, new signature each time': () => small[next++ % small.length]!(),
  'gang of 3, same signature again': gangOf(crowd, 3, '900m'),
  'gang of 1,000, same signature again': gangOf(crowd, 1000, '500m', '1Gi'),
  'gang of 5,000, same signature again': gangOf(crowd, 5000, '500m', '1Gi'),
  'gang of 1,000, with a plugin that reads other nodes and skips': gangOf(
    new CrowdedCore({ plugins: [alwaysSkips] }),
    1000,
    '500m',
    '1Gi',
  ),
};
const filter = process.argv.slice(2).join(' ');
const bench = new Bench({ time: 3000, warmupTime: 500 });
for (const [title, run] of Object.entries(cases)) if (title.includes(filter)) bench.add(title, run);
await bench.run();
for (const task of bench.tasks) {
  const result = task.result as unknown as {
    latency?: { mean: number; p50: number; p99: number; max: number };
    error?: Error;
  };
  if (result.latency === undefined) throw result.error ?? new Error(`${task.name} was not measured`);
  const { mean, p50, p99, max } = result.latency;
  console.log(
    `${task.name.padEnd(63)} mean ${mean.toFixed(3)} ms  p50 ${p50.toFixed(3)}  p99 ${p99.toFixed(3)}  max ${max.toFixed(3)}`,
  );
}
