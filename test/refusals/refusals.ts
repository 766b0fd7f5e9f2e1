// npm run refusals: measures how often the planner rejects a gang that fits. Prints a line per family, and fails if a plan is wrong.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { drawInstance } from './draw-instance.ts';
import { families } from './families.ts';
import type { Family } from './families.ts';
import { maxSteps, measureRefusals } from './measure-refusals.ts';
import { planInstance } from './plan-instance.ts';
import { solveExactly } from './solve-exactly.ts';

const usage = `usage: npm run refusals -- --from SEED --count N [--family NAME]
       npm run refusals -- --seed SEED --family NAME

  --count N      about N instances, divided among the families by weight; each family begins with the seed of --from
  --family NAME  only this family; all N instances are of it
  --seed SEED    print one instance with its exact solution and the plan`;

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
  print(family.padEnd(20) + cells.map((cell) => String(cell).padStart(10)).join(''));
}

async function measure(chosen: readonly Family[], from: number, count: number): Promise<boolean> {
  const weights = chosen.reduce((sum, { weight }) => sum + weight, 0);
  const rejected: string[] = [];
  const wrong: string[] = [];
  const placed: string[] = [];
  printRow('family', 'instances', 'feasible', 'rejected', 'share %', 'dropped', 'wrong', 'ms each');
  for (const family of chosen) {
    const started = performance.now();
    const result = await measureRefusals(family, from, Math.ceil((count * family.weight) / weights));
    const ms = performance.now() - started;
    printRow(
      family.name,
      result.instances,
      result.feasible,
      result.rejected.length,
      ((100 * result.rejected.length) / Math.max(1, result.feasible)).toFixed(2),
      result.dropped,
      result.wrong.length,
      (ms / result.instances).toFixed(2),
    );
    const byStrategy = Object.entries(result.byStrategy).map(([strategy, gangs]) => `${strategy} ${gangs}`);
    placed.push(`${family.name}: ${byStrategy.join(', ')}`);
    if (result.rejected.length > 0) rejected.push(`${family.name}: ${result.rejected.slice(0, 5).join(', ')}`);
    wrong.push(...result.wrong.map((problem) => `${family.name}, ${problem}`));
  }
  print('\nPlaced by each strategy:');
  for (const line of placed) print(`  ${line}`);
  if (rejected.length > 0) print(`\nFirst rejected seeds:\n  ${rejected.join('\n  ')}`);
  for (const line of wrong) print(`wrong plan: ${line}`);
  return wrong.length === 0;
}

function show(family: Family, seed: number): void {
  const instance = drawInstance(family, seed);
  print(JSON.stringify(instance, undefined, 1));
  print(`exact: ${JSON.stringify(solveExactly(instance, maxSteps))}`);
  const plan = planInstance(instance);
  print(plan === undefined ? 'planner: rejected' : `planner: ${JSON.stringify([...plan.nodes])} by ${plan.strategy}`);
}

const named = families.filter(({ name }) => values.family === undefined || name === values.family);
const [first] = named;
if (first === undefined)
  reject(`--family ${values.family}: must be one of ${families.map(({ name }) => name).join(', ')}`);
let passed = true;
if (values.seed !== undefined && values.family !== undefined) show(first, wholeNumber(values.seed, '--seed', 0));
else if (values.count !== undefined) {
  passed = await measure(named, wholeNumber(values.from, '--from', 0), wholeNumber(values.count, '--count', 1));
} else reject(usage);
process.exit(passed ? 0 : 1);
