/**
 * Sends generated requests, most of them hostile, to a part of Tutti, and fails when it ends, stalls, grows or reports an internal error.
 *
 *     npm run fuzz -- --requests 100000 --seed 7 --target embedded
 */
import process from 'node:process';
import { Command } from 'commander';
import { wholeNumber } from '../../src/cli/flag-values.ts';
import { clientTarget } from './client-target.ts';
import { embeddedTarget } from './embedded-target.ts';
import type { FuzzTarget } from './fuzz-target.ts';

const targets: readonly FuzzTarget[] = [embeddedTarget, clientTarget];

interface Flags {
  readonly requests: number;
  readonly seed: number;
  readonly only?: number;
  readonly target?: string;
}

const flags = new Command('fuzz')
  .description('Sends generated requests to a part of Tutti and reports failures.')
  .option('--requests <count>', 'number of requests for each target', wholeNumber(1), 10_000)
  .option('--seed <number>', 'seed; the same seed gives the same requests', wholeNumber(0), 1)
  .option('--only <number>', 'send only the request of this number', wholeNumber(0))
  .option('--target <name>', `one of ${targets.map(({ name }) => name).join(', ')}; default: all`)
  .parse()
  .opts<Flags>();

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const chosen = targets.filter(({ name }) => flags.target === undefined || flags.target === name);
if (chosen.length === 0) {
  process.stderr.write(
    `unknown target ${flags.target}: must be one of ${targets.map(({ name }) => name).join(', ')}\n`,
  );
  process.exit(2);
}
for (const target of chosen) {
  const { requests, seed, only } = flags;
  const options = { requests, seed, ...(only !== undefined && { only }), print };
  const { failures, lines } = await target.run(options);
  for (const line of [...lines, ...failures]) print(line);
  if (failures.length > 0) process.exitCode = 1;
}
