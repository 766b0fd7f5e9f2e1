import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SelectorError, compileLabelSelector, compileNodeSelectorTerm } from './label-selector.ts';
import type { LabelSelector } from './label-selector.ts';
import type { NodeSelectorRequirement, NodeSelectorTerm } from './pod.ts';

const expression = (operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key: 'tier', operator, values }],
});

describe('compileLabelSelector', () => {
  it.each<[string, LabelSelector | undefined, Record<string, string> | undefined, boolean]>([
    ['an absent selector matches nothing', undefined, { tier: 'a' }, false],
    ['an empty selector matches everything', {}, undefined, true],
    ['matchLabels needs every label', { matchLabels: { tier: 'a', zone: 'z' } }, { tier: 'a' }, false],
    ['matchLabels allows more labels', { matchLabels: { tier: 'a' } }, { tier: 'a', zone: 'z' }, true],
    ['labels and expressions must both hold', { matchLabels: { a: 'b' }, ...expression('Exists') }, { a: 'b' }, false],
    ['In matches a listed value', expression('In', 'a', 'b'), { tier: 'b' }, true],
    ['In does not match another value', expression('In', 'a', 'b'), { tier: 'c' }, false],
    ['In does not match an absent key', expression('In', 'a'), {}, false],
    ['NotIn does not match a listed value', expression('NotIn', 'a'), { tier: 'a' }, false],
    ['NotIn matches an absent key', expression('NotIn', 'a'), undefined, true],
    ['Exists matches any value, the empty one too', expression('Exists'), { tier: '' }, true],
    ['DoesNotExist matches an absent key', expression('DoesNotExist'), {}, true],
    ['DoesNotExist does not match a present key', expression('DoesNotExist'), { tier: 'a' }, false],
  ])('%s', (_name, selector, labels, matches) => {
    expect(compileLabelSelector(selector)(labels)).toBe(matches);
  });

  it('does not treat inherited properties as labels', () => {
    const selector = { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] };
    expect(compileLabelSelector(selector)({})).toBe(false);
    expect(compileLabelSelector(selector)(JSON.parse('{"constructor":"x"}') as Record<string, string>)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['matchExpressions[0].operator', expression('Gt', '1')],
    ['matchExpressions[0].operator', expression('in', 'a')],
    ['matchExpressions[0].values', expression('In')],
    ['matchExpressions[0].values', expression('Exists', 'a')],
    ['matchExpressions[0].values', { matchExpressions: [{ key: 'a', operator: 'In', values: [1] }] }],
    ['matchExpressions[0].key', { matchExpressions: [{ key: 'a b', operator: 'Exists' }] }],
    ['matchExpressions', { matchExpressions: {} }],
    ['matchLabels["a"]', { matchLabels: { a: 1 } }],
  ])('rejects a malformed selector and names %s', (path, selector) => {
    const compile = (): unknown => compileLabelSelector(selector as LabelSelector);
    expect(compile).toThrow(SelectorError);
    expect(compile).toThrow(expect.objectContaining({ path }) as Error);
  });

  it('makes NotIn the opposite of In, and DoesNotExist of Exists', () => {
    const labels = fc.dictionary(fc.constantFrom('tier', 'zone'), fc.constantFrom('a', 'b', ''));
    fc.assert(
      fc.property(labels, fc.array(fc.constantFrom('a', 'b', ''), { minLength: 1 }), (given, values) => {
        expect(compileLabelSelector(expression('NotIn', ...values))(given)).toBe(
          !compileLabelSelector(expression('In', ...values))(given),
        );
        expect(compileLabelSelector(expression('DoesNotExist'))(given)).toBe(
          !compileLabelSelector(expression('Exists'))(given),
        );
      }),
    );
  });
});

describe('compileNodeSelectorTerm', () => {
  const requirement = (operator: string, ...values: string[]): NodeSelectorTerm => ({
    matchExpressions: [{ key: 'cores', operator, values }],
  });
  const nameIs = (operator: string, ...values: string[]): NodeSelectorRequirement => ({
    key: 'metadata.name',
    operator,
    values,
  });

  it.each<[string, NodeSelectorTerm, Record<string, string>, boolean]>([
    ['an empty term matches nothing', {}, {}, false],
    ['a term with empty lists matches nothing', { matchExpressions: [], matchFields: [] }, {}, false],
    ['Gt compares whole numbers', requirement('Gt', '9'), { cores: '10' }, true],
    ['Gt excludes the bound', requirement('Gt', '10'), { cores: '10' }, false],
    ['Lt compares whole numbers', requirement('Lt', '10'), { cores: '9' }, true],
    ['Gt reads numbers of any length', requirement('Gt', `${'0'.repeat(40)}8`), { cores: `${'0'.repeat(40)}9` }, true],
    ['Lt does not match an absent label', requirement('Lt', '5'), {}, false],
    ['Gt does not match a value that is not a whole number', requirement('Gt', '5'), { cores: '6.5' }, false],
    ['Gt is exact beyond 2^53', requirement('Gt', '9007199254740992'), { cores: '9007199254740993' }, true],
    ['Gt does not match a value beyond 64 bits', requirement('Gt', '1'), { cores: '9223372036854775808' }, false],
    ['In works as for labels', requirement('In', '4'), { cores: '4' }, true],
    ['a field selects by name', { matchFields: [nameIs('In', 'node-a')] }, {}, true],
    ['a field rejects by name', { matchFields: [nameIs('NotIn', 'node-a')] }, {}, false],
    [
      'fields and labels must both hold',
      { ...requirement('Exists'), matchFields: [nameIs('In', 'node-a')] },
      {},
      false,
    ],
  ])('%s', (_name, term, labels, matches) => {
    expect(compileNodeSelectorTerm(term)({ name: 'node-a', labels })).toBe(matches);
  });

  it.each<[string, NodeSelectorTerm]>([
    ['matchExpressions[0].values', requirement('Gt', 'many')],
    ['matchExpressions[0].values', requirement('Lt', '1', '2')],
    // As in Kubernetes, the sign makes it an invalid label value.
    ['matchExpressions[0].values', requirement('Lt', '-1')],
    ['matchExpressions[0].values', requirement('In', 'a', 'no label')],
    ['matchExpressions[0].operator', requirement('Near', '1')],
    ['matchFields[0].key', { matchFields: [{ key: 'spec.x', operator: 'In', values: ['a'] }] }],
    ['matchFields[0].operator', { matchFields: [nameIs('Exists', 'a')] }],
    ['matchFields[0].values', { matchFields: [nameIs('In', 'a', 'b')] }],
  ])('rejects a malformed term and names %s', (path, term) => {
    expect(() => compileNodeSelectorTerm(term)).toThrow(
      expect.objectContaining({ name: 'SelectorError', path }) as Error,
    );
  });
});
