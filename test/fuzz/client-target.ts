import { fuzzClient } from './client-fuzz.ts';
import type { FuzzTarget } from './fuzz-target.ts';

/** Tests the client against a hostile server. It always sends all requests, because the fate of one depends on the others. */
export const clientTarget: FuzzTarget = {
  name: 'client',
  async run({ requests, seed, print }) {
    const { hangs, duplicatedWrites, mixedUp, strange, failed, isGood, ...counts } = await fuzzClient({
      requests,
      seed,
      log: print,
    });
    const again = `npm run fuzz -- --target client --requests ${requests} --seed ${seed}`;
    const wrong = { hangs, 'writes carried out twice': duplicatedWrites, 'answers to another request': mixedUp };
    const failures = [
      ...Object.entries(wrong).flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : [])),
      ...strange.slice(0, 20),
    ];
    if (!isGood && failures.length === 0) failures.push('an unknown problem');
    const lines = Object.entries({ ...counts, ...wrong, ...failed }).map(
      ([what, count]) => `client: ${what}: ${count}`,
    );
    return { failures: failures.map((failure) => `client: ${failure}: ${again}`), lines };
  },
};
