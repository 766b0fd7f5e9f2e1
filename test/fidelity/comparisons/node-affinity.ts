import * as fc from 'fast-check';
import { fields, maybe, nodeNames, questionsOf } from '../arbitraries.ts';
import type { NodeParts } from '../arbitraries.ts';
import type { DeliberateDifference, PluginComparison } from '../plugin-comparison.ts';
import type { ApiObject } from '../question.ts';

const keys = fc.constantFrom('zone', 'tier', 'cores', 'example.com/kind');
const words = fc.constantFrom('a', 'b', 'c', '');
const numbers = fc.constantFrom('0', '4', '8', '16', '0016', '00000000000000000000000016', '9223372036854775807');
const tooLarge = '9223372036854775808';

const node: fc.Arbitrary<NodeParts> = fields({
  zone: maybe(words, 8),
  tier: maybe(words),
  cores: maybe(
    fc.oneof(
      { weight: 4, arbitrary: numbers },
      { weight: 1, arbitrary: fc.constantFrom('many', '4.5', '-4', '1_000', tooLarge) },
    ),
    8,
  ),
  'example.com/kind': maybe(words),
}).map((labels) => ({ labels: labels as Record<string, string> }));

const sets = fields({
  key: keys,
  operator: fc.constantFrom('In', 'NotIn'),
  values: fc.array(words, { minLength: 1, maxLength: 3 }),
});
const presence = fields({
  key: keys,
  operator: fc.constantFrom('Exists', 'DoesNotExist'),
  values: maybe(fc.constant([]), 1),
});
const bounds = fields({
  key: fc.constantFrom('cores', 'zone'),
  operator: fc.constantFrom('Gt', 'Lt'),
  values: numbers.map((value) => [value]),
});
const expression = fc.oneof(sets, presence, bounds);

/** Expressions that an API server accepts although no node can match, or that only result from a mistake. */
const oddExpression = fc.oneof(
  fields({
    key: keys,
    operator: fc.constantFrom('Gt', 'Lt'),
    values: fc.constantFrom(['many'], ['-4'], ['+4'], ['4', '8'], [], ['4.0'], [tooLarge]),
  }),
  fields({
    key: keys,
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.constantFrom([], ['a b', 'a'], ['x'.repeat(64)], ['-a']),
  }),
  fields({ key: keys, operator: fc.constantFrom('Exists', 'DoesNotExist'), values: fc.constant(['a']) }),
  fields({
    key: fc.constantFrom('', 'a b', '/zone'),
    operator: fc.constantFrom('In', 'Exists', 'DoesNotExist'),
    values: fc.constant([]),
  }),
  fields({ key: keys, operator: fc.constantFrom('Is', '', 'in'), values: fc.constant(['a']) }),
);

const field = fields({
  key: fc.constant('metadata.name'),
  operator: fc.constantFrom('In', 'In', 'NotIn'),
  values: fc.constantFrom(...nodeNames, 'unseen').map((name) => [name]),
});
const oddField = fc.oneof(
  fields({
    key: fc.constant('metadata.name'),
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.constantFrom([], ['n0', 'n1']),
  }),
  fields({ key: fc.constant('metadata.name'), operator: fc.constantFrom('Exists', 'Gt'), values: fc.constant(['n0']) }),
);

/** `odd` of 100 requirements are invalid. */
function term(odd: number): fc.Arbitrary<ApiObject> {
  const mixed = <T>(usual: fc.Arbitrary<T>, strange: fc.Arbitrary<T>): fc.Arbitrary<T> =>
    odd === 0 ? usual : fc.oneof({ weight: 100 - odd, arbitrary: usual }, { weight: odd, arbitrary: strange });
  return fields({
    matchExpressions: maybe(fc.array(mixed(expression, oddExpression), { maxLength: 3 }), 8),
    matchFields: maybe(fc.array(mixed(field, oddField), { maxLength: 2 }), 3),
  });
}

function rules(odd: number): fc.Arbitrary<ApiObject> {
  return fields({
    requiredDuringSchedulingIgnoredDuringExecution: maybe(
      fields({ nodeSelectorTerms: fc.array(term(odd), { minLength: odd === 0 ? 1 : 0, maxLength: 3 }) }),
      4,
    ),
    preferredDuringSchedulingIgnoredDuringExecution: maybe(
      fc.array(fields({ weight: fc.integer({ min: 1, max: 100 }), preference: term(odd === 0 ? 0 : 1) }), {
        maxLength: 4,
      }),
      6,
    ),
  });
}

/** For a pod with invalid terms, Tutti reports what is wrong with them. Tutti rejects the same pods as kube-scheduler. */
const malformedTerms: DeliberateDifference = {
  name: 'malformed-terms-are-named',
  explains: ({ where, tutti, kubeScheduler }, { question: { nodes }, kubeScheduler: { filter = {}, nodeNames } }) => {
    const names = nodes.map(({ metadata }) => (metadata as { readonly name: string }).name);
    const isNamed = tutti.includes(': spec.affinity.nodeAffinity.');
    if (where === 'PreScore') return isNamed && tutti.startsWith('Error: ') && kubeScheduler.startsWith('Error: ');
    const isRejected = (name: string): boolean => name in filter || nodeNames?.includes(name) === false;
    return where === 'PreFilter' && isNamed && (kubeScheduler !== 'pass' || names.every(isRejected));
  },
};

export const nodeAffinity: PluginComparison = {
  plugin: 'NodeAffinity',
  differences: [malformedTerms],
  questions: questionsOf({
    plugin: 'NodeAffinity',
    args: maybe(fields({ addedAffinity: maybe(rules(0), 8) }), 4),
    node,
    pod: fields({
      nodeSelector: maybe(
        fc.dictionary(keys, words, { maxKeys: 2 }).map((selector) => ({ ...selector })),
        2,
      ),
      affinity: maybe(
        fields({
          nodeAffinity: maybe(fc.oneof({ weight: 3, arbitrary: rules(0) }, { weight: 2, arbitrary: rules(4) }), 9),
        }),
        9,
      ),
    }).map((spec) => ({ spec })),
  }),
};
