import * as fc from 'fast-check';
import { fields, maybe, podObject } from '../arbitraries.ts';
import type { NodeParts, PodParts } from '../arbitraries.ts';
import type { ApiObject, Question } from '../question.ts';

/** Shared by the plugins that look at the placement of other pods. */

export const topologyKey = fc.constantFrom('kubernetes.io/hostname', 'topology.kubernetes.io/zone', 'rack');
export const namespace = fc.constantFrom('default', 'default', 'one', 'two', 'unseen');
export const labels: fc.Arbitrary<Record<string, string>> = fields({
  app: maybe(fc.constantFrom('a', 'b', 'c'), 8),
  tier: maybe(fc.constantFrom('x', 'y'), 4),
  revision: maybe(fc.constantFrom('1', '2'), 3),
}).map((all) => all as Record<string, string>);

export const topologyNode: fc.Arbitrary<NodeParts> = fc.record({
  labels: fields({
    'kubernetes.io/hostname': maybe(fc.constantFrom('h0', 'h1', 'h2', 'h3', 'h4', 'h5'), 9),
    'topology.kubernetes.io/zone': maybe(fc.constantFrom('z0', 'z1', 'z2', ''), 8),
    rack: maybe(fc.constantFrom('r0', 'r1'), 7),
    disk: maybe(fc.constant('ssd')),
  }).map((all) => all as Record<string, string>),
  spec: fields({
    unschedulable: maybe(fc.boolean(), 2),
    taints: maybe(
      fc.array(
        fields({
          key: fc.constantFrom('t', 'u'),
          value: maybe(fc.constantFrom('v', '5'), 3),
          effect: fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule'),
        }),
        { minLength: 1, maxLength: 2 },
      ),
      3,
    ),
  }),
});

const key = fc.constantFrom('app', 'tier', 'revision');
const value = fc.constantFrom('a', 'b', 'x', '1');
const expression = fc.oneof(
  fields({ key, operator: fc.constantFrom('In', 'NotIn'), values: fc.array(value, { minLength: 1, maxLength: 2 }) }),
  fields({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);

/** Includes an undefined selector, which selects nothing, and an empty one, which selects everything. */
export const selector: fc.Arbitrary<ApiObject | undefined> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom<ApiObject>(
      { matchLabels: { app: 'a' } },
      { matchLabels: { app: 'b' } },
      { matchLabels: {} },
    ),
  },
  {
    weight: 5,
    arbitrary: fields({
      matchLabels: maybe(
        fc.dictionary(key, value, { maxKeys: 1 }).map((all) => ({ ...all })),
        4,
      ),
      matchExpressions: fc.array(expression, { maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

/** Generates the question, sometimes with pods that are added or removed between PreFilter and Filter; `coming` are like existing ones. */
export function withChanges(
  questions: fc.Arbitrary<Question>,
  coming: fc.Arbitrary<PodParts>,
  /** Like `coming`, with a complete pod. */
  complete: (pod: ApiObject) => ApiObject = (pod) => pod,
): fc.Arbitrary<Question> {
  const pick = fc.nat();
  return fc
    .record({
      question: questions,
      isChanged: fc.integer({ min: 0, max: 2 }).map((third) => third === 0),
      added: fc.array(fc.tuple(pick, coming), { maxLength: 3 }),
      removed: fc.array(pick, { maxLength: 3 }),
    })
    .map(({ question, isChanged, added, removed }) => {
      const { nodes, pods } = question;
      const names = nodes.map(({ metadata }) => (metadata as { readonly name: string }).name);
      if (!isChanged || added.length + removed.length === 0) return question;
      const seen = pods.filter(({ spec }) => names.includes((spec as { readonly nodeName: string }).nodeName));
      const gone = new Set(seen.length === 0 ? [] : removed.map((place) => seen[place % seen.length]!));
      if (added.length + gone.size === 0) return question;
      return {
        ...question,
        added: added.map(([place, parts], index) =>
          complete(
            podObject(`added-${index}`, {
              ...parts,
              spec: { ...parts.spec, nodeName: names[place % names.length]! },
            }),
          ),
        ),
        removed: [...gone].map(({ metadata }) => (metadata as { readonly uid: string }).uid),
      };
    });
}
