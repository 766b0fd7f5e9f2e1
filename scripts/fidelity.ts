// Compares kube-scheduler's plugins with Tutti's on random input, and reports where the results differ:
// `npm run fidelity -- --comparisons 200000 --seed 1 --plugin NodeAffinity`. Needs Go to build the program with kube-scheduler's plugins.
// `--record` stores inputs with kube-scheduler's results in test/fidelity/corpus/, for machines without Go.
// Exits with 1 if a mismatch is not a documented difference, and with 3 if Go is missing.
import process from 'node:process';
import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import { comparePlugin, shrunk } from '../test/fidelity/compare-plugin.ts';
import type { Tally } from '../test/fidelity/compare-plugin.ts';
import { comparisons } from '../test/fidelity/comparisons.ts';
import { record } from '../test/fidelity/corpus.ts';
import { Oracle } from '../test/fidelity/oracle.ts';
import { provideBinaries } from '../test/planes/real/build.ts';

const { values } = parseArgs({
  options: {
    comparisons: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    record: { type: 'boolean', default: false },
    plugin: { type: 'string', multiple: true, default: comparisons.map(({ plugin }) => plugin) },
  },
});
const wanted = Number(values.comparisons);
const seed = Number(values.seed);
const chosen = comparisons.filter(({ plugin }) => values.plugin.includes(plugin));
if (!Number.isInteger(wanted) || wanted < 1 || !Number.isInteger(seed) || chosen.length < values.plugin.length) {
  console.error('usage: npm run fidelity -- [--comparisons <total>] [--seed <integer>] [--plugin <name>]… [--record]');
  console.error(`plugins: ${comparisons.map(({ plugin }) => plugin).join(', ')}`);
  process.exit(2);
}

const provision = await provideBinaries(['fidelity'], { mayBuild: true });
if (provision.state === 'missing') {
  console.error(provision.message);
  process.exit(3);
}

const started = performance.now();
const each = Math.ceil(wanted / chosen.length);
const tallies: Tally[] = [];
{
  await using oracle = new Oracle(provision.paths.fidelity);
  const ask = oracle.ask.bind(oracle);
  for (const comparison of values.record ? chosen : []) {
    const questions = fc.sample(comparison.questions, { numRuns: 3000, seed });
    const answers = await Promise.all(questions.map(ask));
    const kept = await record(
      comparison.plugin,
      questions.map((question, index) => ({ question, answer: answers[index]! })),
    );
    console.log(`${comparison.plugin}: ${kept} answers recorded`);
  }
  console.log(`${'plugin'.padEnd(32)}comparisons    rejections    rankings  deliberate  mismatches`);
  for (const comparison of chosen) {
    const tally = await comparePlugin(comparison, { ask, comparisons: each, seed });
    tallies.push(tally);
    printRow(tally);
    if (tally.mismatches === 0) continue;
    const smallest = await shrunk(comparison, { ask, seed, runs: 5000 });
    for (const { question, disagreements } of smallest === undefined ? tally.examples : [smallest]) {
      console.log(`\n${tally.plugin} differs:`, JSON.stringify(disagreements, undefined, 2));
      console.log(JSON.stringify(question));
    }
  }
}

const sumOf = (of: (tally: Tally) => number): number => tallies.reduce((sum, tally) => sum + of(tally), 0);
const mismatches = sumOf((tally) => tally.mismatches);
const seconds = ((performance.now() - started) / 1000).toFixed(0);
console.log(
  `seed ${seed}: ${sumOf((tally) => tally.comparisons)} comparisons in ${seconds} s, ${mismatches} undocumented mismatches`,
);
if (mismatches > 0) process.exitCode = 1;

function printRow({
  plugin,
  comparisons: compared,
  rejections,
  rankings,
  differences,
  mismatches: found,
}: Tally): void {
  const deliberate = [...differences.values()].reduce((sum, times) => sum + times, 0);
  const numbers = [compared, rejections, rankings, deliberate, found].map((amount) => String(amount).padStart(11));
  console.log(plugin.padEnd(32) + numbers.join(' '));
  for (const [name, times] of differences) console.log(`    ${name}: ${times}`);
}
