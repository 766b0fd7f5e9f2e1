import { expect, it } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { runs } from '../../base/testing/runs.ts';
import { resourceDemandOf } from '../../framework/resource-demand.ts';
import { Queueing } from '../../testkit/queueing.ts';
import { defaultPlugins } from '../registry.ts';

it('rulesOut() never rules out pods that fit, and rules out most pods rejected for lack of capacity', () => {
  const wrong: string[] = [];
  const counts = { rejected: 0, ruledOut: 0 };
  for (let seed = 1; seed <= runs(400); seed++) {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    const core = new Queueing({ plugins: defaultPlugins, seed });
    for (let i = 0; i < 4; i++) {
      core.node({ name: `n${i}`, cpu: pick([1, 2, 4]), memory: pick(['1Gi', '4Gi']), pods: pick([2, 10]) });
      if (random() < 0.6) core.pod({ name: `old-${i}`, cpu: pick([1, 2, 3]), memory: '512Mi', nodeName: `n${i}` });
    }
    const count = pick([1, 2, 4, 6]);
    const minMember = pick([1, Math.ceil(count / 2), count]);
    core.group({ name: 'red', minMember });
    for (let i = 0; i < count; i++) {
      core.pod({ name: `red-${i}`, group: 'red', cpu: pick([1, 2]), memory: pick(['256Mi', '1Gi']) });
    }
    const gang = core.harness.cluster.gang('default/red')!;
    const fit = core.harness.profile.plugins.find(({ name }) => name === 'NodeResourcesFit')!;
    const isRuledOut = fit.rulesOut!(resourceDemandOf([...gang.pending.values()], minMember));
    const { fits } = core.harness.core.dryRun({ kind: 'gang', gang });
    if (isRuledOut && fits) wrong.push(`seed ${seed}`);
    if (!fits) counts.rejected++;
    if (isRuledOut) counts.ruledOut++;
  }
  expect(wrong).toEqual([]);
  expect(counts.ruledOut).toBeGreaterThan(counts.rejected / 3);
});
