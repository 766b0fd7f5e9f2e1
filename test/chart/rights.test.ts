import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { readRules } from '../../scripts/chart/rbac-page.ts';
import { chartFolder } from '../planes/helm.ts';
import { templated } from './rendered-chart.ts';

const page = await readFile(`${chartFolder}/../../docs/rbac.md`, 'utf8');

describe('docs/rbac.md', () => {
  test.each([
    ['its defaults', {}],
    ['the cluster’s own roles', { rbac: { stockRoles: true } }],
    [
      'everything that adds rights',
      {
        metrics: { readers: [{ name: 'a', namespace: 'b' }] },
        config: { extenders: [{ urlPrefix: 'http://x', bindVerb: 'bind' }] },
        reservations: { enabled: true },
        nativePodGroups: { writeStatus: true },
      },
    ],
  ])('has each rule of the chart with %s, and its purpose', async (_, values) => {
    const rules = readRules((await templated(values)).stdout);
    expect(rules.length).toBeGreaterThan(10);
    for (const { role, verbs, resources, urls, neededBy } of rules) {
      const what = [...resources, ...urls].map((word) => `\`${word}\``).join(', ');
      const row = page
        .split('\n')
        .find(
          (line) =>
            line.startsWith(`| ${verbs.map((verb) => `\`${verb}\``).join(', ')} | ${what}`) && line.includes(neededBy),
        );
      expect(row, `${role}: ${verbs.join()} ${what}`).toBeDefined();
    }
  });

  test('a rule without a purpose is an error', () => {
    const role = (comment: string): string =>
      `kind: ClusterRole\nmetadata: {name: "a:b:c"}\nrules:\n${comment}  - apiGroups: [""]\n    resources: [pods]\n    verbs: [get]\n`;
    expect(readRules(role('  # why\n'))).toMatchObject([{ role: 'c', resources: ['pods'], neededBy: 'why' }]);
    expect(() => readRules(role(''))).toThrow('rule 0 of c does not say what needs it');
  });
});
