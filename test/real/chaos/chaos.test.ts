import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { provideForSuite } from '../../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../../planes/real/real-plane.ts';
import type { RealPlane } from '../../planes/real/real-plane.ts';
import { hangsMs } from '../../planes/patience.ts';
import { killedAgainAndAgain, leadersChange } from './chaos.ts';
import type { ChaosOptions } from './chaos.ts';

const programs = await provideForSuite('chaos', ['etcd', 'kube-apiserver']);
const options: ChaosOptions = { seed: 1, boundMs: hangsMs, holdMs: 500, groupSpec: {}, say: () => undefined };

/** A few rounds of what `npm run chaos` does by the hundred, which judges by a bound that a busy machine may exceed. */
describe.skipIf(programs.state === 'missing')('whatever moment it is', () => {
  let plane: RealPlane;

  beforeAll(async () => {
    if (programs.state === 'ready') plane = await openRealPlane({ paths: programs.paths, audited: true });
  });
  afterAll(() => plane?.stop());

  it('a scheduler that is killed, and started anew, leaves nothing in part', async () => {
    const result = await killedAgainAndAgain(plane, 4, options);
    expect(result).toMatchObject({ problems: [], changes: { kill: 4 }, capacityTaken: 2 });
    expect(result.carriedOutBindings).toBeGreaterThan(0);
  });
});

describe.skipIf(programs.state === 'missing')('with three replicas', () => {
  let plane: RealPlane;

  beforeAll(async () => {
    if (programs.state === 'ready') plane = await openRealPlane({ paths: programs.paths, audited: true });
  });
  afterAll(() => plane?.stop());

  it('a leader that is killed, ended or frozen leaves nothing in part, and none writes beside another', async () => {
    const result = await leadersChange(plane, 3, { lease: 8, renew: 5, retry: 1 }, options);
    expect(result.problems).toEqual([]);
    expect(result.changes.kill + result.changes.terminate + result.changes.freeze).toBe(3);
  });
});
