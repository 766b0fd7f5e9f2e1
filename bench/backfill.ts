/**
 * Measures reservations with a predicted start on 5,000 nodes with 50,000 pods, of which 30,000 declare different ends: the first and the second
 * prediction for a gang of 500, and the cycle of a gang of 3 while the 500 reservations stand. `node --expose-gc bench/backfill.ts`
 */
import process from 'node:process';
import type { Clock } from '../src/base/clock.ts';
import { systemClock } from '../src/base/system-clock.ts';
import { VirtualClock } from '../src/base/virtual-clock.ts';
import { defaultReservations } from '../src/config/scheduler-configuration.ts';
import { workAtATime } from '../src/scheduler/cycle/work-at-a-time.ts';
import type { CycleResult } from '../src/scheduler/cycle/cycle-result.ts';
import { CrowdedCore } from './crowded-core.ts';

const measurements = 9;
const attemptsPerMeasurement = 500;
const declaredPodsPerNode = 6;
/** A turn's prediction is made again after this time if pods have changed. */
const predictEveryMs = 30_000;

interface Attempt {
  readonly result: CycleResult;
  readonly cpuMs: number;
  readonly elapsedMs: number;
  readonly longestTurnMs: number;
}

const cpuTime = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;
const range = (values: number[]): string =>
  `${median(values).toFixed(2)} (${values[0]!.toFixed(2)}–${values.at(-1)!.toFixed(2)})`;

/** Makes one attempt in turns of the size that a process uses. */
function attempt(core: CrowdedCore['core']): Attempt {
  let [cpuMs, elapsedMs, longestTurnMs] = [0, 0, 0];
  for (;;) {
    const [startedAt, before] = [performance.now(), cpuTime()];
    const result = core.attempt(workAtATime);
    // Other processes inflate the elapsed time of a turn.
    const turnMs = cpuTime() - before;
    cpuMs += turnMs;
    elapsedMs += performance.now() - startedAt;
    longestTurnMs = Math.max(longestTurnMs, turnMs);
    if (result === undefined) throw new Error('no entity is active');
    if (result.kind !== 'paused') return { result, cpuMs, elapsedMs, longestTurnMs };
  }
}

function crowd(clock: Clock = systemClock): CrowdedCore {
  const created = new CrowdedCore({ reservations: defaultReservations, clock });
  const startTime = new Date(Date.now() - 60_000).toISOString();
  for (let p = 0; p < declaredPodsPerNode; p++) {
    created.onEachNode((i) => ({
      ...{ uid: `declared-${p}-${i}`, cpu: 3, memory: '1Gi' },
      runtime: `${3600 + (((i * declaredPodsPerNode + p) * 7919) % 30_011)}s`,
      status: { startTime },
    }));
  }
  return created;
}

/** A gang that fits once declared pods have ended. */
function addHolder(to: CrowdedCore): void {
  to.gang(500, () => ({ cpu: 22, memory: '1Gi' }));
}

/** Makes an attempt that predicts a start. */
function predict(core: CrowdedCore['core']): Attempt {
  globalThis.gc?.();
  const made = attempt(core);
  const { result } = made;
  if (result.kind !== 'rejected' || result.predicted?.turn === undefined) throw new Error('no start was predicted');
  return made;
}

const first: Attempt[] = [];
/** Predictions for a gang that has its turn, after a pod has arrived. */
const second: Attempt[] = [];
for (let i = 0; i <= measurements; i++) {
  const clock = new VirtualClock(Date.now());
  const created = crowd(clock);
  addHolder(created);
  created.core.begin();
  const predicted = predict(created.core);
  created.lone({ cpu: '1m', nodeName: 'node-0' });
  clock.advance(predictEveryMs);
  const again = predict(created.core);
  if (i === 0) continue;
  first.push(predicted);
  second.push(again);
}
for (const [title, predictions] of Object.entries({ first, second })) {
  console.log(`attempt with the ${title} prediction, medians of ${measurements} (range), ms`);
  console.log(`  CPU time      ${range(predictions.map(({ cpuMs }) => cpuMs))}`);
  console.log(`  elapsed       ${range(predictions.map(({ elapsedMs }) => elapsedMs))}`);
  console.log(`  longest turn  ${range(predictions.map(({ longestTurnMs }) => longestTurnMs))}`);
}

const cycles = new Map<string, number[]>([
  ['without reservations', []],
  ['with 500 reservations', []],
]);
const cores = [...cycles.keys()].map((title) => {
  const created = crowd();
  if (title.startsWith('with ')) addHolder(created);
  created.core.begin();
  while (created.core.attempt() !== undefined);
  return [title, created] as const;
});
for (let i = 0; i <= measurements; i++) {
  for (const [title, created] of cores) {
    globalThis.gc?.();
    let cpu = 0;
    for (let j = 0; j < attemptsPerMeasurement; j++) {
      // A refresh of the prediction may be due.
      while (created.core.attempt() !== undefined);
      const remove = created.gangOf(3, () => ({ cpu: '500m', memory: '1Gi' }));
      const made = attempt(created.core);
      if (made.result.kind !== 'planned') throw new Error(`${title}: the attempt ended ${made.result.kind}`);
      cpu += made.cpuMs;
      remove();
      await new Promise(setImmediate);
    }
    if (i > 0) cycles.get(title)!.push(cpu / attemptsPerMeasurement);
  }
}
console.log('\ncycle of a gang of 3 with a known signature, CPU time, ms');
for (const [title, values] of cycles) console.log(`  ${title.padEnd(22)} ${range(values)}`);
const [without, withHolder] = [...cycles.values()].map(median);
console.log(`  ratio                  ${(withHolder! / without!).toFixed(2)}`);
process.exit(0);
