import { describe, expect, it } from 'vitest';
import { readAddedAffinity } from './added-affinity.ts';

const requiredTerms = ['addedAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms'];
const required = (nodeSelectorTerms: unknown): unknown => ({
  addedAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
});
const preferred = (term: unknown): unknown => ({
  addedAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [term] },
});
const zone = (...values: readonly string[]): unknown => ({
  matchExpressions: [{ key: 'zone', operator: 'In', values }],
});

describe('addedAffinity', () => {
  it.each([[undefined], [null], [{}], [{ addedAffinity: null }]])('is absent from %j', (args) => {
    expect(readAddedAffinity(args)).toBeUndefined();
  });

  it('is compiled', () => {
    const { required: terms } = readAddedAffinity(required([zone('x')]))!;
    expect(terms!.map((matches) => matches({ name: 'a', labels: { zone: 'x' } }))).toEqual([true]);
    const { preferred: preferences } = readAddedAffinity(preferred({ weight: 7, preference: zone('x') }))!;
    expect(preferences.map(({ weight, matches }) => [weight, matches({ name: 'a', labels: {} })])).toEqual([
      [7, false],
    ]);
  });

  it('accepts null where kube-scheduler treats it as absent', () => {
    expect(readAddedAffinity(required(null))!.required).toEqual([]);
    expect(readAddedAffinity(preferred({ weight: 1, preference: { matchFields: null } }))!.preferred).toHaveLength(1);
  });

  it.each<[unknown, string]>([
    [{ addedAfinity: {} }, 'addedAfinity is not a known field; did you mean addedAffinity?'],
    [{ addedAffinity: [] }, 'addedAffinity must be an object, not an empty list'],
    [required('x'), 'nodeSelectorTerms must be a list, not "x"'],
    [required([null]), 'nodeSelectorTerms[0] must be an object, not null'],
    [preferred({ weight: 0, preference: zone('x') }), '[0].weight must be a whole number from 1 to 100, not 0'],
    [preferred({ weight: 1 }), '[0].preference is missing; it must be an object'],
    [preferred({ weight: 1, preference: zone() }), 'matchExpressions[0].values must not be empty for In'],
    [
      required([{ matchExpressions: [{ key: 'a b', operator: 'Exists' }] }]),
      'matchExpressions[0].key must be a label key such as "app" or "example.com/tier", not "a b"',
    ],
    [
      required([{ matchExpressions: [{ key: 'a', operator: 'in' }] }]),
      'matchExpressions[0].operator must be In, NotIn, Exists, DoesNotExist, Gt or Lt, not "in"',
    ],
    [required([{ matchExpressions: [{ operator: 'Exists' }] }]), 'matchExpressions[0].key is missing'],
    [
      required([{ matchExpressions: [{ key: 'a', operator: 'In', values: [1] }] }]),
      'matchExpressions[0].values[0] must be a string, not 1',
    ],
    [
      required([{ matchExpressions: [{ key: 'a', operator: 'In', value: 'x' }] }]),
      'matchExpressions[0].value is not a known field; did you mean values?',
    ],
    [
      required([{ matchFields: [{ key: 'spec.x', operator: 'In', values: ['a'] }] }]),
      'matchFields[0].key must be metadata.name, not "spec.x"',
    ],
    [
      required([{ matchFields: [{ key: 'metadata.name', operator: 'In' }] }]),
      'matchFields[0].values must contain exactly one node name',
    ],
  ])('is rejected with the name of the invalid field: %j', (args, message) => {
    expect(() => readAddedAffinity(args)).toThrow(message);
  });

  it('is rejected with all its problems', () => {
    const terms = [
      { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] },
      { matchExpressions: [{ key: 'b', operator: 'Gt', values: ['c'] }] },
    ];
    expect(() => readAddedAffinity(required(terms))).toThrow(
      expect.objectContaining({
        problems: [
          { path: [...requiredTerms, 0, 'matchExpressions', 0, 'values'], problem: 'must be empty for Exists' },
          { path: [...requiredTerms, 1, 'matchExpressions', 0, 'values'], problem: 'must be one whole number for Gt' },
        ],
      }),
    );
  });
});
