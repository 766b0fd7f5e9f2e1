import * as fc from 'fast-check';
import { fields, maybe } from '../arbitraries.ts';
import type { NodeParts, PodParts } from '../arbitraries.ts';

const cordon = 'node.kubernetes.io/unschedulable';
const keys = fc.constantFrom('dedicated', 'gpu', 'example.com/tier', cordon);
const values = fc.constantFrom('', 'ml', 'web', '5', '10', '-3', '0005', 'true');
const effects = fc.constantFrom('NoSchedule', 'PreferNoSchedule', 'NoExecute');

const taint = fields({
  key: keys,
  value: maybe(values, 7),
  effect: effects,
  timeAdded: maybe(fc.constant('2026-01-01T00:00:00Z'), 1),
});

const toleration = fields({
  key: maybe(fc.oneof({ weight: 9, arbitrary: keys }, { weight: 1, arbitrary: fc.constant('') }), 8),
  operator: maybe(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('Equal', 'Exists', '') },
      { weight: 2, arbitrary: fc.constantFrom('Lt', 'Gt', 'Sometimes', 'exists') },
    ),
    7,
  ),
  value: maybe(values),
  effect: maybe(fc.oneof({ weight: 9, arbitrary: effects }, { weight: 1, arbitrary: fc.constant('') })),
  tolerationSeconds: maybe(fc.constantFrom(0, 300), 1),
});

export const taintedNode: fc.Arbitrary<NodeParts> = fields({
  unschedulable: maybe(fc.boolean(), 4),
  taints: maybe(fc.array(taint, { maxLength: 4 }), 8),
}).map((spec) => ({ spec }));

export const toleratingPod: fc.Arbitrary<PodParts> = fields({
  tolerations: maybe(fc.array(toleration, { maxLength: 5 }), 8),
}).map((spec) => ({ spec }));
