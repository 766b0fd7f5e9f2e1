import { describe, expect, it } from 'vitest';
import { bindingArgs, extenderArgs, readBindingResult, readFilterResult, readHostPriorities } from './extender-wire.ts';

const requested = new Set(['a', 'b']);

it('writes requests in the format of the Go encoder', () => {
  expect(JSON.parse(extenderArgs('{"kind":"Pod"}', { names: ['a'] }))).toEqual({
    Pod: { kind: 'Pod' },
    Nodes: null,
    NodeNames: ['a'],
  });
  expect(JSON.parse(extenderArgs('{}', { json: ['{"kind":"Node"}'] }))).toEqual({
    Pod: {},
    Nodes: { metadata: {}, items: [{ kind: 'Node' }] },
    NodeNames: null,
  });
  const binding = { namespace: 'team', name: 'x', uid: 'u', nodeName: 'a', annotations: {} };
  expect(JSON.parse(bindingArgs(binding))).toEqual({ PodName: 'x', PodNamespace: 'team', PodUID: 'u', Node: 'a' });
});

describe('a filter result', () => {
  it.each([
    [{ NodeNames: ['a'], FailedNodes: { b: 'full' }, Error: '' }],
    [{ nodenames: ['a'], failednodes: { b: 'full' } }],
    [{ nodeNames: ['a'], Nodes: null, failedNodes: { b: 'full' }, error: null }],
    [{ Nodes: { items: [{ metadata: { name: 'a' } }] }, NodeNames: null, FailedNodes: { b: 'full' } }],
    [{ nodes: { Items: [{ Metadata: { Name: 'a' } }] }, FailedNodes: { b: 'full' } }],
  ])('may have field names in any case: %j', (answer) => {
    const { passed, failed, unresolvable } = readFilterResult(answer, requested, true);
    expect([[...passed], [...failed], unresolvable.size]).toEqual([['a'], [['b', 'full']], 0]);
  });

  it('with names and nodes is read by the kind of the request', () => {
    const answer = { NodeNames: ['a'], Nodes: { items: [{ metadata: { name: 'b' } }] } };
    expect([...readFilterResult(answer, requested, true).passed]).toEqual(['a']);
    expect([...readFilterResult(answer, requested, false).passed]).toEqual(['b']);
    expect([...readFilterResult({ NodeNames: ['a'] }, requested, false).passed]).toEqual(['a']);
    expect([...readFilterResult({ Nodes: answer.Nodes }, requested, true).passed]).toEqual(['b']);
  });

  it('without nodes rejects all nodes', () => {
    expect(readFilterResult({}, requested, true).passed.size).toBe(0);
  });

  it.each([
    [{ Error: 'no' }, 'no'],
    [{ Error: { code: 1 } }, '{"code":1}'],
    [{ NodeNames: ['c'] }, 'it returned node "c", which is not in the request'],
    [{ NodeNames: [1] }, 'it returned node 1, which is not in the request'],
    [{ NodeNames: 'a' }, 'NodeNames must be a list, not "a"'],
    [[], 'its response is not an ExtenderFilterResult: []'],
    [null, 'its response is not an ExtenderFilterResult: null'],
  ])('is rejected: %j', (answer, message) => {
    expect(() => readFilterResult(answer, requested, true)).toThrow(
      expect.objectContaining({ name: 'ExtenderAnswerError', message }),
    );
  });
});

it('reads priorities and rejects invalid ones', () => {
  expect([...readHostPriorities([{ Host: 'a', Score: 3 }, { host: 'b' }])]).toEqual([
    ['a', 3],
    ['b', 0],
  ]);
  expect(readHostPriorities(null).size).toBe(0);
  for (const answer of [{}, [{ Score: 1 }], [{ Host: 'a', Score: '1' }], [null], [{ Host: 'a', Score: 1e300 }]]) {
    expect(() => readHostPriorities(answer)).toThrow('HostPriorityList');
  }
});

it('reads the result of a bind', () => {
  expect(() => readBindingResult({ Error: '' })).not.toThrow();
  expect(() => readBindingResult({ error: 'no device' })).toThrow('no device');
  expect(() => readBindingResult(null)).toThrow('is not an ExtenderBindingResult');
});
