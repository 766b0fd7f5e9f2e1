/**
 * Whether a scheduler's heap stays as it is while pods, groups and nodes come and go that name resources, labels and namespaces nobody else
 * has: hours on a virtual clock, at the end of each stretch of which all that is odd goes, and the heap is looked at. In the second half the
 * nodes stay as they are, so that what is only forgotten when they change is seen too. Ends with 1 when the heap of the last quarter is
 * larger than that of the second; in the first everything comes to its size.
 *
 *     node --expose-gc bench/odd-pods.ts [hours] [seed]
 */
import process from 'node:process';
import { getHeapSpaceStatistics } from 'node:v8';
import { OddPods } from '../test/soak/odd-pods.ts';

const [hours = '4', seed = '1'] = process.argv.slice(2);
const seconds = Number(hours) * 3600;
/** So many that what is kept up to a limit, and then forgotten all at once, comes and goes several times in each quarter. */
const stretches = 32;
const tolerated = 0.02;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** What the engine makes of the program: it compiles more of it for hours. */
const ofCode = /^(?:code|trusted)_/;

async function heapBytes(): Promise<number> {
  for (let i = 0; i < 20; i++) {
    globalThis.gc!();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return getHeapSpaceStatistics()
    .filter(({ space_name: space }) => !ofCode.test(space))
    .reduce((sum, { space_used_size: size }) => sum + size, 0);
}

if (globalThis.gc === undefined) {
  process.stderr.write('run it with --expose-gc\n');
  process.exit(2);
}
const odd = new OddPods(Number(seed), seconds / 2);
await odd.start();
const heaps: number[] = [];
for (let i = 1; i <= stretches; i++) {
  await odd.run(seconds / stretches);
  const { pods } = await odd.kept;
  await odd.calm();
  const heap = await heapBytes();
  heaps.push(heap);
  const { bindings, resourceNames, metricLines } = await odd.kept;
  const counts = `${pods} pods were there, ${bindings} have been bound, ${resourceNames} resource names and ${metricLines} lines of metrics are left`;
  say(`${((Number(hours) * i) / stretches).toFixed(2)} h: heap ${(heap / 1e6).toFixed(1)} MB; ${counts}`);
}
await odd.stop();
const mean = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0) / list.length;
const quarter = (which: number): number => mean(heaps.slice(((which - 1) * stretches) / 4, (which * stretches) / 4));
const growth = quarter(4) / quarter(2) - 1;
say(`the last quarter against the second: ${(100 * growth).toFixed(1)} %; tolerated: ${100 * tolerated} %`);
process.exitCode = growth > tolerated ? 1 : 0;
