import { expect, it } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { runs } from '../../base/testing/runs.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Queueing } from '../../testkit/queueing.ts';

it('reports never only for gangs that do not fit even without all other pods', () => {
  const wrongSeeds: string[] = [];
  let never = 0;
  for (let seed = 1; seed <= runs(400); seed++) {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    const core = new Queueing({ plugins: defaultPlugins, seed });
    const names = ['a', 'b', 'c'].slice(0, 1 + Math.floor(random() * 3));
    for (const name of names)
      core.node({
        name,
        cpu: pick([2, 3, 4]),
        labels: { [name]: 'yes' },
        taints: random() < 0.2 ? ['t=y:NoSchedule'] : [],
      });
    const others: string[] = [];
    for (let i = 0; i < 4; i++) {
      others.push(`o${i}`);
      if (random() < 0.3) {
        core.pod({ name: `o${i}`, cpu: 1, schedulerName: 'other', priority: 50, nominatedNodeName: pick(names) });
      } else
        core.pod({ name: `o${i}`, cpu: pick([1, 2]), nodeName: pick(names), hostPorts: random() < 0.3 ? [80] : [] });
    }
    const bound = random() < 0.4 ? 1 + Math.floor(random() * 2) : 0;
    const pending = 1 + Math.floor(random() * 4);
    const needed = bound + Math.max(1, pending - Math.floor(random() * 2));
    const minResources = random() < 0.4 ? { minResources: { cpu: String(needed) } } : {};
    core.group({ name: 'red', minMember: needed, ...minResources });
    for (let i = 0; i < bound; i++)
      core.pod({ name: `b${i}`, group: 'red', cpu: 1, nodeName: pick(names), deleting: random() < 0.2 });
    for (let i = 0; i < pending; i++) {
      core.pod({
        name: `m${i}`,
        group: 'red',
        cpu: pick([1, 1, 2]),
        hostPorts: random() < 0.3 ? [80] : [],
        ...(random() < 0.3 && { nodeSelector: { [pick(names)]: 'yes' } }),
        ...(random() < 0.3 && { tolerations: [{ key: 't', operator: 'Exists' }] }),
      });
    }
    const result = core.harness.core.attempt();
    if (result?.kind !== 'rejected' || result.verdict.waitsFor !== 'never') continue;
    never++;
    for (const name of others) core.removePod(name);
    for (let i = 0; i < bound; i++) if (core.harness.cluster.pod(`b${i}`)?.deleting) core.removePod(`b${i}`);
    for (let i = 0; i < 6; i++) {
      const gang = core.harness.cluster.gang('default/red')!;
      if (core.harness.core.dryRun({ kind: 'gang', gang }).fits) {
        wrongSeeds.push(`${seed}`);
        break;
      }
    }
  }
  expect(never).toBeGreaterThan(runs(20));
  expect(wrongSeeds).toEqual([]);
});
