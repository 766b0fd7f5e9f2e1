// node scripts/fuzz-client.ts [--requests N] [--seed N]: ends with 1 when something was that must not be.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { fuzzClient } from '../test/fuzz/client-fuzz.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const report = await fuzzClient({ requests: Number(values.requests), seed: Number(values.seed), log: say });
const { strange, failed, isGood, ...counts } = report;
for (const [what, count] of Object.entries({ ...counts, ...failed })) say(`${what}: ${count}`);
for (const line of strange.slice(0, 20)) say(line);
say(isGood ? 'good' : 'BAD');
process.exitCode = isGood ? 0 : 1;
