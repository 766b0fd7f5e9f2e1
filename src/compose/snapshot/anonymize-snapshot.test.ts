import { expect, it } from 'vitest';
import type { Snapshot } from '../../api/explain/snapshot.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { seededRandom } from '../../base/random.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { anonymizeSnapshot } from './anonymize-snapshot.ts';
import { knownFields } from './known-fields.ts';
import { openSnapshot } from './open-snapshot.ts';
import { differs, replaySnapshot } from './replay-snapshot.ts';
import { snapshotSchema } from './snapshot-file.ts';
import { snapshotOf } from './testing/snapshot-of.ts';

/** Equal nodes, so that only names decide which of them a member gets, and groups of several pod classes that wait for their first attempt. */
function equalNodes(seed: number): Snapshot {
  const random = seededRandom(seed);
  const int = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1));
  const c = new Scheduling({ plugins: defaultPlugins });
  const zones = ['east', 'north', 'south', 'west'];
  for (let i = 0; i < 24; i++)
    c.node({ name: `machine-${int(0, 1e6)}-${i}`, cpu: 8, labels: { zone: zones[i % 4]!, pool: 'x' } });
  for (let i = 0; i < 12; i++) {
    const name = `job-${int(0, 1e6)}-${i}`;
    const size = int(1, 9);
    c.group({ name, minMember: size });
    for (let m = 0; m < size; m++) {
      const app = `app-${int(0, 3)}`;
      c.pod({
        name: `${name}-${m}`,
        group: name,
        cpu: int(3, 5),
        labels: { app },
        ...(int(0, 1) === 0 && { nodeSelector: { pool: 'x' } }),
        ...(int(0, 4) === 0 && {
          spec: {
            affinity: {
              podAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [
                  { topologyKey: 'zone', labelSelector: { matchLabels: { app } } },
                ],
              },
            },
          },
        }),
      });
    }
  }
  return snapshotOf(c.harness.core);
}

it('WI24: keeps plans on equal nodes, which only names tell apart', () => {
  let [plans, changed] = [0, 0];
  for (let seed = 1; seed <= 8; seed++) {
    const { snapshot, changedPlans } = anonymizeSnapshot(equalNodes(seed));
    expect(changedPlans, `seed ${seed}`).toBe(0);
    expect(differs(replaySnapshot(openSnapshot(snapshot, new VirtualClock()))), `seed ${seed}`).toBe(false);
    const { ties: _, ...withoutTies } = snapshot;
    for (const { plan } of replaySnapshot(openSnapshot(withoutTies, new VirtualClock())).items) {
      if (plan !== 'none') plans++;
      if (plan === 'differs') changed++;
    }
  }
  expect(plans).toBeGreaterThan(60);
  // The numbers that break ties are needed.
  expect(changed / plans).toBeGreaterThan(0.5);
});

it('does not anonymize away a difference that a replay shows', () => {
  const snapshot = equalNodes(1);
  const [first, ...others] = snapshot.queue;
  const [assignment, ...rest] = first!.plan!.assignments;
  const node = snapshot.nodes.find(({ name }) => name !== assignment!.node)!.name;
  const plan = { ...first!.plan!, assignments: [{ ...assignment!, node }, ...rest] };
  const wrong = { ...snapshot, queue: [{ ...first!, plan }, ...others] };
  const { items } = replaySnapshot(openSnapshot(anonymizeSnapshot(wrong).snapshot, new VirtualClock()));
  expect(items.map(({ plan: result }) => result)).toEqual(['differs', ...others.map(() => 'same')]);
});

it('WI24: leaves out fields that a later version has added, and only those', () => {
  const snapshot = equalNodes(1);
  const canary = 'canary-of-a-later-version';
  /** Adds a field to each object. The names in labels, amounts and the configuration are free. */
  const withCanaries = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(withCanaries);
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(([name, field]) => [name, isFree(name) ? field : withCanaries(field)]);
    return { ...Object.fromEntries(fields), later: canary };
  };
  const isFree = (name: string): boolean =>
    ['labels', 'matchLabels', 'allocatable', 'requests', 'nodeSelector', 'configuration'].includes(name);
  expect(JSON.stringify(anonymizeSnapshot(withCanaries(snapshot) as Snapshot).snapshot)).not.toContain(canary);
  expect(knownFields(snapshot, snapshotSchema())).toEqual(snapshot);
});
