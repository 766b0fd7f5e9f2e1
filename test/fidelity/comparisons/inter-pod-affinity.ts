import * as fc from 'fast-check';
import { fields, maybe, questionsOf } from '../arbitraries.ts';
import type { PodParts } from '../arbitraries.ts';
import type { PluginComparison } from '../plugin-comparison.ts';
import type { ApiObject } from '../question.ts';
import { labels, namespace, selector, topologyKey, topologyNode, withChanges } from './other-pods.ts';

const namespaceSelector = fc.oneof(
  fc.constant<ApiObject>({}),
  fc.constantFrom<ApiObject>({ matchLabels: { team: 'red' } }, { matchLabels: { team: 'blue' } }),
  fields({
    matchExpressions: fc.array(
      fc.oneof(
        fields({
          key: fc.constantFrom('team', 'env'),
          operator: fc.constantFrom('In', 'NotIn'),
          values: fc.constantFrom(['red'], ['blue', 'x']),
        }),
        fields({ key: fc.constantFrom('team', 'env'), operator: fc.constantFrom('Exists', 'DoesNotExist') }),
      ),
      { minLength: 1, maxLength: 2 },
    ),
  }),
);

const term = fields({
  topologyKey,
  labelSelector: selector,
  namespaces: maybe(fc.array(namespace, { maxLength: 2 }), 3),
  namespaceSelector: maybe(namespaceSelector, 3),
  // The API server merges them into the selector when it creates the pod.
  matchLabelKeys: maybe(fc.constant(['revision']), 1),
  mismatchLabelKeys: maybe(fc.constant(['tier']), 1),
});
const weighted = fields({ weight: fc.integer({ min: 1, max: 100 }), podAffinityTerm: term });
const side = fields({
  requiredDuringSchedulingIgnoredDuringExecution: maybe(fc.array(term, { maxLength: 2 }), 6),
  preferredDuringSchedulingIgnoredDuringExecution: maybe(fc.array(weighted, { maxLength: 3 }), 5),
});
const pod: fc.Arbitrary<PodParts> = fc.record({
  namespace,
  labels,
  spec: fields({ affinity: maybe(fields({ podAffinity: maybe(side, 4), podAntiAffinity: maybe(side, 5) }), 8) }),
});

const objects = fc
  .record({
    default: maybe(labelsOfNamespace(), 9),
    one: maybe(labelsOfNamespace(), 9),
    two: maybe(labelsOfNamespace(), 9),
  })
  .map((all) =>
    Object.entries(all).flatMap(([name, its]) =>
      its === undefined ? [] : [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: its } }],
    ),
  );

function labelsOfNamespace(): fc.Arbitrary<ApiObject> {
  return fields({ team: maybe(fc.constantFrom('red', 'blue'), 8), env: maybe(fc.constantFrom('x', 'y'), 3) });
}

export const interPodAffinity: PluginComparison = {
  plugin: 'InterPodAffinity',
  questions: withChanges(
    questionsOf({
      plugin: 'InterPodAffinity',
      args: maybe(
        fields({
          hardPodAffinityWeight: maybe(fc.constantFrom(0, 1, 50, 100)),
          ignorePreferredTermsOfExistingPods: maybe(fc.boolean()),
        }),
        4,
      ),
      node: topologyNode,
      pod,
      placed: pod,
      objects,
    }),
    pod,
  ),
};
