import { describe, expect, it } from 'vitest';
import { planeForSuite } from '../../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../../planes/real/provide-real-plane.ts';
import { hangsMs } from '../../planes/patience.ts';
import { killedAgainAndAgain, leadersChange } from './chaos.ts';
import type { ChaosOptions } from './chaos.ts';

const programs = await provideForSuite('chaos', ['etcd', 'kube-apiserver']);
const options: ChaosOptions = { seed: 1, boundMs: hangsMs, holdMs: 500, groupSpec: {}, say: () => undefined };

/** A few rounds of what `npm run chaos` does in large numbers. That command applies a time limit that a busy machine may exceed. */
describe.skipIf(programs.state === 'missing')('Failures at random moments', () => {
  const plane = planeForSuite(programs, { audited: true });

  it('leave no partially bound group when a scheduler is killed and restarted', async () => {
    const result = await killedAgainAndAgain(plane(), 4, options);
    expect(result).toMatchObject({ problems: [], changes: { kill: 4 }, capacityTaken: 2 });
    expect(result.carriedOutBindings).toBeGreaterThan(0);
  });
});

describe.skipIf(programs.state === 'missing')('Failures at random moments with three replicas', () => {
  const plane = planeForSuite(programs, { audited: true });

  it('leave no partially bound group and no interleaved writes when a leader is killed, terminated or frozen', async () => {
    const result = await leadersChange(plane(), 3, { lease: 8, renew: 5, retry: 1 }, options);
    expect(result.problems).toEqual([]);
    expect(result.changes.kill + result.changes.terminate + result.changes.freeze).toBe(3);
  });
});
