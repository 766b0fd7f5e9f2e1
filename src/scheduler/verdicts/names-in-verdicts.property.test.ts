import { expect, it } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { runs } from '../../base/testing/runs.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

/** Part of every name that a user of the namespace `own` cannot see. */
const secret = 'zq';

/** Lets pods of two namespaces compete for few nodes, and returns the conditions and Events of one namespace. */
async function textsFor(seed: number): Promise<readonly string[]> {
  const random = seededRandom(seed);
  const int = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1));
  const notes: string[] = [];
  const c = new Scheduling({
    plugins: defaultPlugins,
    ports: {
      events: {
        record: ({ reason, note, regarding }) => {
          if (regarding.namespace === 'own' && reason !== 'Scheduled') notes.push(`${reason}: ${note}`);
        },
      },
    },
  });
  for (let n = 0; n < 4; n++) {
    c.node({
      name: `${secret}-node-${n}`,
      cpu: int(1, 4),
      labels: { [`${secret}/zone`]: `${secret}-${n % 2}` },
      taints: random() < 0.3 ? [{ key: `${secret}/taint`, value: secret, effect: 'NoSchedule' }] : [],
      unschedulable: random() < 0.15,
    });
  }
  for (let p = 0; p < 12; p++) {
    const isOwn = random() < 0.5;
    const namespace = isOwn ? 'own' : `${secret}-other`;
    const group = `${isOwn ? 'own' : secret}-group-${int(0, 1)}`;
    const [name, uid] = [`${isOwn ? 'own' : secret}-pod-${p}`, `u${p}`];
    const priority = int(-2, 3);
    if (random() < 0.3) {
      const nodeName = `${secret}-node-${int(0, 3)}`;
      c.pod({ name, uid, namespace, cpu: int(1, 2), priority, nodeName });
    } else {
      const hostPorts = random() < 0.2 ? [8080] : [];
      c.pod({ name, uid, namespace, group, cpu: int(1, 3), priority, hostPorts });
    }
  }
  for (const namespace of ['own', `${secret}-other`]) {
    const prefix = namespace === 'own' ? 'own' : secret;
    for (const index of [0, 1])
      c.group({ name: `${prefix}-group-${index}`, uid: `g${prefix.length}${index}`, namespace, minMember: int(1, 4) });
  }
  for (let round = 0; round < 6; round++) {
    for (let attempts = 0; attempts < 40 && (await c.attempt()) !== undefined; attempts++);
    for (const { binding } of [...c.binds])
      await (random() < 0.5 ? c.accept(binding.name) : c.reject(binding.name, `node "${binding.nodeName}" is gone`));
    c.harness.clock.advance(int(1, 30) * 1_000);
    await c.settle();
  }
  const verdicts = c.harness.written.filter(({ name }) => name.startsWith('own'));
  return [...notes, ...verdicts.map(({ verdict }) => verdict.message)].map(withoutOwnNodes);
}

/** The user knows on which nodes the own pods are. */
function withoutOwnNodes(text: string): string {
  return text.replace(/(^Preempted: .*?|own\/\S+ could not be evicted) on node \S+/, '$1');
}

it('WI27: conditions and Events name no node, taint or label, and nothing of another namespace', async () => {
  const texts = new Set<string>();
  for (let seed = 1; seed <= runs(400); seed++) {
    for (const text of await textsFor(seed)) {
      expect(text, `seed ${seed}`).not.toContain(secret);
      texts.add(text.replaceAll(/\d+/g, 'N').slice(0, 300));
    }
  }
  // There are many kinds of texts.
  expect(texts.size).toBeGreaterThan(20);
});
