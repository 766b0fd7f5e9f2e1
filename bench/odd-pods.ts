/**
 * Whether a scheduler's heap stays as it is while pods, groups and nodes come and go that name resources, labels and namespaces nobody else
 * has: hours on a virtual clock. In the second half the nodes stay as they are, so that what is only forgotten when they change is seen too. Ends with 1 when
 * the heap grows from the third quarter to the last.
 *
 *     node --expose-gc bench/odd-pods.ts [hours] [seed]
 */
import process from 'node:process';
import { OddPods } from '../test/soak/odd-pods.ts';

const [hours = '4', seed = '1'] = process.argv.slice(2);
const stretches = 16;
/** Of the heap in the quarter before; what the engine itself keeps goes up and down by less. */
const tolerated = 0.02;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function heapBytes(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    globalThis.gc!();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

if (globalThis.gc === undefined) {
  process.stderr.write('run it with --expose-gc\n');
  process.exit(2);
}
const odd = new OddPods(Number(seed), Number(hours) * 1800);
await odd.start();
const heaps: number[] = [];
for (let i = 1; i <= stretches; i++) {
  await odd.run((Number(hours) * 3600) / stretches);
  const heap = await heapBytes();
  heaps.push(heap);
  const kept = await odd.kept;
  const counts = Object.entries(kept).map(([what, count]) => `${what} ${count}`);
  say(`${((Number(hours) * i) / stretches).toFixed(2)} h: heap ${(heap / 1e6).toFixed(1)} MB, ${counts.join(', ')}`);
}
await odd.calm();
say(`after all has gone: heap ${((await heapBytes()) / 1e6).toFixed(1)} MB, ${(await odd.kept).resourceNames} resource names`);
await odd.stop();
const mean = (quarter: number): number =>
  heaps.slice((quarter * stretches) / 4, ((quarter + 1) * stretches) / 4).reduce((sum, heap) => sum + heap, 0) / (stretches / 4);
const growth = mean(3) / mean(2) - 1;
say(`the last quarter against the one before: ${(100 * growth).toFixed(1)} %; tolerated: ${100 * tolerated} %`);
process.exitCode = growth > tolerated ? 1 : 0;
