import { describe, expect, it } from 'vitest';
import { mergeLabelKeys } from './merge-label-keys.ts';

const podWith = (spec: object): { metadata: object; spec: object } => ({
  metadata: { name: 'p', labels: { app: 'a', revision: '2' } },
  spec,
});
const merged = (spec: object): object => {
  const pod = JSON.parse(JSON.stringify(podWith(spec))) as ReturnType<typeof podWith>;
  mergeLabelKeys(pod as never);
  return pod.spec;
};
const own = { key: 'revision', values: ['2'] };

describe('mergeLabelKeys', () => {
  it('extends the selectors of required and preferred affinity terms', () => {
    const term = {
      topologyKey: 'zone',
      labelSelector: { matchLabels: { app: 'a' } },
      matchLabelKeys: ['revision', 'absent'],
      mismatchLabelKeys: ['app'],
    };
    const expected = {
      ...term,
      labelSelector: {
        matchLabels: { app: 'a' },
        matchExpressions: [
          { ...own, operator: 'In' },
          { key: 'app', operator: 'NotIn', values: ['a'] },
        ],
      },
    };
    const sideOf = (each: object): object => ({
      requiredDuringSchedulingIgnoredDuringExecution: [each],
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: each }],
    });
    const affinityOf = (each: object): object => ({
      affinity: { podAffinity: sideOf(each), podAntiAffinity: sideOf(each) },
    });
    expect(merged(affinityOf(term))).toEqual(affinityOf(expected));
  });

  it('appends to the selectors of spread constraints', () => {
    const selector = { matchExpressions: [{ key: 'app', operator: 'Exists' }] };
    const constraint = { topologyKey: 'zone', matchLabelKeys: ['revision'], labelSelector: selector };
    expect(merged({ topologySpreadConstraints: [constraint] })).toEqual({
      topologySpreadConstraints: [
        {
          ...constraint,
          labelSelector: { matchExpressions: [...selector.matchExpressions, { ...own, operator: 'In' }] },
        },
      ],
    });
  });

  it('ignores terms without a selector, which select no pods', () => {
    const spec = { topologySpreadConstraints: [{ topologyKey: 'zone', matchLabelKeys: ['revision'] }] };
    expect(merged(spec)).toEqual(spec);
  });
});
