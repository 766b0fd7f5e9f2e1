// npm run preemption-oracle: compares preemption with an exhaustive search on small clusters. Prints a line per family, and fails if an answer is wrong.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { drawInstance } from './draw-instance.ts';
import { families } from './families.ts';
import type { Family } from './families.ts';
import { judgeAnswer, mismatches, mustNotHappen } from './judge-answer.ts';
import type { Mismatch } from './judge-answer.ts';
import { measurePreemption } from './measure-preemption.ts';
import { preemptInstance } from './preempt-instance.ts';
import { VictimSets } from './victim-sets.ts';

const usage = `usage: npm run preemption-oracle -- --from SEED --count N [--family NAME]
       npm run preemption-oracle -- --seed SEED --family NAME

  --count N      about N instances, divided evenly among the families; each family begins with the seed of --from
  --family NAME  only this family; all N instances are of it
  --seed SEED    print one instance with the answer and the smallest victim sets that suffice`;

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    count: { type: 'string' },
    seed: { type: 'string' },
    family: { type: 'string' },
  },
});

function wholeNumber(text: string, flag: string, min: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= min) return value;
  return reject(`${flag} ${text}: must be an integer of at least ${min}`);
}

function reject(problem: string): never {
  process.stderr.write(`${problem}\n`);
  return process.exit(2);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printRow(family: string, ...cells: readonly (string | number)[]): void {
  print(family.padEnd(24) + cells.map((cell) => String(cell).padStart(13)).join(''));
}

async function measure(chosen: readonly Family[], from: number, count: number): Promise<boolean> {
  const names = Object.keys(mismatches) as Mismatch[];
  const seeds: string[] = [];
  const extra: string[] = [];
  const totals = new Map<string, number>();
  let passed = true;
  printRow('family', 'instances', 'placed', 'rejected', 'waits', 'preempts', ...names, 'ms each');
  for (const family of chosen) {
    const started = performance.now();
    const result = await measurePreemption(family, from, Math.ceil(count / chosen.length));
    const ms = performance.now() - started;
    const { placed, rejected, waits, preempts } = result.counts;
    const cells = { instances: result.instances, placed, rejected, waits, preempts, ...lengthsOf(result.seeds) };
    for (const [name, cell] of Object.entries(cells)) totals.set(name, (totals.get(name) ?? 0) + cell);
    printRow(family.name, ...Object.values(cells), (ms / result.instances).toFixed(2));
    for (const name of names) {
      const found = result.seeds[name];
      if (found.length > 0) seeds.push(`${name}: --family '${family.name}' --seed ${found.slice(0, 5).join(', ')}`);
    }
    passed &&= mustNotHappen.every((name) => result.seeds[name].length === 0);
    const shares = [...result.extra].sort(([a], [b]) => a - b).map(([pods, times]) => `${pods} ${times}`);
    extra.push(`${family.name}: ${shares.join(', ')}`);
  }
  printRow('all', ...totals.values(), '');
  print(`\nMismatches (the first ${mustNotHappen.length} must not happen):`);
  for (const name of names) print(`  ${name}: ${mismatches[name]}`);
  print(
    '\nPods evicted beyond the smallest set that is not worse by its budgets or its highest priority, and how often:',
  );
  for (const line of extra) print(`  ${line}`);
  if (seeds.length > 0) print(`\nFirst seeds:\n  ${seeds.join('\n  ')}`);
  return passed;
}

function lengthsOf(seeds: Readonly<Record<Mismatch, readonly number[]>>): Record<string, number> {
  return Object.fromEntries(Object.entries(seeds).map(([name, { length }]) => [name, length]));
}

function show(family: Family, seed: number): void {
  const instance = drawInstance(family, seed);
  print(JSON.stringify(instance, undefined, 1));
  const answer = preemptInstance(instance);
  print(`answer: ${JSON.stringify({ ...answer, nodes: [...answer.nodes] })}`);
  print(`judgment: ${JSON.stringify(judgeAnswer(instance, answer))}`);
  const sets = new VictimSets(instance);
  const enough = sets.all.filter((set) => sets.suffices(set)).slice(0, 10);
  print(`of ${sets.all.length} victim sets, the smallest that suffice:`);
  for (const { mask, ...set } of enough) {
    const pods = instance.running.flatMap((_, i) => ((mask & (1 << i)) === 0 ? [] : [i]));
    print(`  ${JSON.stringify({ ...set, pods, top: String(set.top) })}`);
  }
}

const named = families.filter(({ name }) => values.family === undefined || name === values.family);
const [first] = named;
if (first === undefined) {
  reject(`--family ${values.family}: must be one of ${families.map(({ name }) => name).join('; ')}`);
}
let passed = true;
if (values.seed !== undefined && values.family !== undefined) show(first, wholeNumber(values.seed, '--seed', 0));
else if (values.count !== undefined) {
  passed = await measure(named, wholeNumber(values.from, '--from', 0), wholeNumber(values.count, '--count', 1));
} else reject(usage);
process.exit(passed ? 0 : 1);
