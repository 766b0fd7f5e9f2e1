import { drawScenario } from './draw-scenario.ts';
import { runScenario } from './run-scenario.ts';
const n = Number(process.argv[2] ?? 20),
  from = Number(process.argv[3] ?? 1);
const trace = process.argv[4] === 'trace' ? (l: string) => console.log(l) : undefined;
const a = performance.now(),
  cpu0 = process.cpuUsage();
let turns = 0;
const kinds = new Map<string, number[]>();
const excused: Record<string, number> = {};
for (let seed = from; seed < from + n; seed++) {
  const scenario = drawScenario(seed);
  if (trace) console.log(JSON.stringify(scenario, null, 1));
  const o = await runScenario(scenario, trace);
  turns += o.turns;
  for (const [k, v] of Object.entries(o.excused)) excused[k] = (excused[k] ?? 0) + v;
  for (const v of o.violations.slice(0, 1)) {
    const k = v.invariant;
    kinds.set(k, [...(kinds.get(k) ?? []), seed]);
    console.log(seed, v.invariant, v.at.toFixed(0), v.what.slice(0, 260));
  }
}
console.log(
  ((performance.now() - a) / n).toFixed(2),
  'ms/seed',
  'cpu',
  (process.cpuUsage(cpu0).user + process.cpuUsage(cpu0).system) / 1000 / n,
  turns / n,
  'turns',
);
console.log(excused);
for (const [k, v] of kinds) console.log(k, v.length, v.slice(0, 12).join(' '));
