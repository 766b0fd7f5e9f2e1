/**
 * Checks that a scheduler's heap does not grow while pods, groups and nodes with unique resource names, labels and namespaces come and go.
 * The run covers hours of a virtual clock in intervals. At the end of each interval, the unusual objects are deleted and the heap is
 * measured. In the second half, the nodes do not change, to reveal data that is only freed when a node changes. Exits with 1 if the heap of
 * the last quarter is larger than that of the second quarter. The first quarter is a warm-up.
 *
 *     node --expose-gc bench/odd-pods.ts [hours] [seed]
 */
import process from 'node:process';
import { getHeapSpaceStatistics } from 'node:v8';
import { OddPods } from '../test/soak/odd-pods.ts';

const [hours = '4', seed = '1'] = process.argv.slice(2);
const seconds = Number(hours) * 3600;
/** Number of intervals. Caches that drop all entries at a limit fill and empty several times in each quarter. */
const intervals = 32;
const toleratedGrowth = 0.02;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Heap spaces for compiled code. V8 keeps compiling for hours, so they do not count. */
const codeSpaces = /^(?:code|trusted)_/;

async function heapBytes(): Promise<number> {
  for (let i = 0; i < 20; i++) {
    globalThis.gc!();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return getHeapSpaceStatistics()
    .filter(({ space_name: space }) => !codeSpaces.test(space))
    .reduce((sum, { space_used_size: size }) => sum + size, 0);
}

if (globalThis.gc === undefined) {
  process.stderr.write('run it with --expose-gc\n');
  process.exit(2);
}
const odd = new OddPods(Number(seed), seconds / 2);
await odd.start();
const heaps: number[] = [];
for (let i = 1; i <= intervals; i++) {
  await odd.run(seconds / intervals);
  const { pods } = await odd.kept;
  await odd.calm();
  const heap = await heapBytes();
  heaps.push(heap);
  const { bindings, resourceNames, metricLines } = await odd.kept;
  const counts = `${pods} pods existed, ${bindings} pods bound so far, ${resourceNames} resource names and ${metricLines} metric lines remain`;
  print(`${((Number(hours) * i) / intervals).toFixed(2)} h: heap ${(heap / 1e6).toFixed(1)} MB; ${counts}`);
}
await odd.stop();
const mean = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0) / list.length;
const quarter = (which: number): number => mean(heaps.slice(((which - 1) * intervals) / 4, (which * intervals) / 4));
const growth = quarter(4) / quarter(2) - 1;
print(
  `growth from the second to the last quarter: ${(100 * growth).toFixed(1)} %; tolerated: ${100 * toleratedGrowth} %`,
);
process.exitCode = growth > toleratedGrowth ? 1 : 0;
