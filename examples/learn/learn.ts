// A course in seven steps: `npm run learn -- 1` to `npm run learn -- 7`.
import process from 'node:process';
import { styleText } from 'node:util';
import type { Say } from './cluster.ts';

const steps = [
  { title: 'A random node', page: '1-random-node.md' },
  { title: 'Filter: which nodes are feasible', page: '2-filter.md' },
  { title: 'Score: which node is best', page: '3-score.md' },
  { title: 'PreScore: compute once', page: '4-pre-score.md' },
  { title: 'Permit: one pod waits, others continue', page: '5-permit.md' },
  { title: 'The queue: fail, back off, retry', page: '6-queue.md' },
  { title: 'Events: requeue when it can help', page: '7-events.md' },
];

const given = process.argv.slice(2);
const number = steps.findIndex((_, index) => given.join(' ') === `${index + 1}`) + 1;
const step = steps[number - 1];
if (step === undefined) {
  if (given.length > 0) console.log(`There is no step "${given.join(' ')}". Choose one of the seven steps.\n`);
  console.log('A scheduler in seven steps. Run one of them:\n');
  for (const [index, { title }] of steps.entries()) console.log(`  npm run learn -- ${index + 1}   ${title}`);
  process.exit(given.length === 0 ? 0 : 2);
}

console.log(styleText('bold', `Step ${number} of ${steps.length}. ${step.title}`));
console.log(`The scheduler: examples/learn/step-${number}/scheduler.ts   Explained in: docs/learn/${step.page}\n`);
let startedAt: number | undefined;
const say: Say = (line) => {
  startedAt ??= performance.now();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(2).padStart(6);
  console.log(`${styleText('dim', `${seconds} s`)}  ${line}`);
};
const { scenario } = (await import(`./step-${number}/scenario.ts`)) as { scenario: (say: Say) => Promise<void> };
try {
  await scenario(say);
} catch (error) {
  // The message of these errors is sufficient without a stack trace.
  const known = error instanceof Error && ['ProfileError', 'ConditionError'].includes(error.name);
  console.error(known ? `\n${error.message}` : error);
  process.exit(1);
}
if (number < steps.length) console.log(`\nNext: npm run learn -- ${number + 1}`);
// Idle connections of the client would keep the process alive.
process.exit(0);
