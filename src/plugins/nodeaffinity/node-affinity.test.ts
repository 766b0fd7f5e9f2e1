import { describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import type { NodeSelectorTerm } from '../../api/pod.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { createNodeAffinity } from './node-affinity.ts';

const build = new Builders();
const handle = pluginHandle(build);
const plugin = createNodeAffinity(undefined, handle);
const state = new CycleState();

const zone = (...values: string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key: 'zone', operator: 'In', values }],
});
const named = (name: string): NodeSelectorTerm => ({
  matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }],
});
const required = (...nodeSelectorTerms: NodeSelectorTerm[]): PodOptions => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
});
const preferred = (...terms: [weight: number, preference: NodeSelectorTerm][]): PodOptions => ({
  nodeAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: terms.map(([weight, preference]) => ({ weight, preference })),
  },
});
const reasonFor = (pod: PodOptions, labels: Record<string, string>, tested: Plugin = plugin): string | undefined =>
  tested.filter!(state, build.projectedPod(pod), build.nodeInfo({ name: 'a', labels }))?.message;

const mismatch = "node(s) didn't match Pod's node affinity/selector";

describe('a pod', () => {
  it('is not helped by preemption', () => {
    const pod = build.projectedPod({ nodeSelector: { disk: 'ssd' } });
    expect(plugin.filter!(state, pod, build.nodeInfo())).toMatchObject({ code: 'UnschedulableAndUnresolvable' });
  });

  it.each<[string, PodOptions, Record<string, string>, string | undefined]>([
    ['all labels of the nodeSelector match', { nodeSelector: { a: '1', b: '2' } }, { a: '1', b: '2' }, undefined],
    ['only some labels of the nodeSelector match', { nodeSelector: { a: '1', b: '2' } }, { a: '1' }, mismatch],
    ['one of the terms matches', required(zone('x'), zone('y')), { zone: 'y' }, undefined],
    ['no term matches', required(zone('x'), zone('y')), { zone: 'z' }, mismatch],
    [
      'the affinity matches, but not the nodeSelector',
      { ...required(zone('x')), nodeSelector: { a: '1' } },
      { zone: 'x' },
      mismatch,
    ],
    ['a term names the node', required(named('a')), {}, undefined],
    ['a term names another node', required(named('b')), {}, mismatch],
    ['an empty list of terms matches nothing', required(), {}, mismatch],
    ['an empty term matches nothing', required({}), {}, mismatch],
    ['no requirement', {}, {}, undefined],
  ])('is checked against the node: %s', (_, pod, labels, expected) => {
    expect(reasonFor(pod, labels)).toBe(expected);
  });
});

describe('PreFilter', () => {
  const preFilter = (pod: PodOptions): ReturnType<NonNullable<Plugin['preFilter']>> =>
    plugin.preFilter!(state, build.projectedPod(pod));

  it('disables Filter for a pod without requirements', () => {
    expect(preFilter(preferred([1, zone('x')]))).toMatchObject({ code: 'Skip' });
    expect(preFilter({ nodeSelector: { a: '1' } })).toBeUndefined();
  });

  it('returns the only possible nodes if every term names nodes', () => {
    expect(preFilter(required(named('a'), named('b')))).toEqual({ nodeNames: new Set(['a', 'b']) });
    expect(preFilter(required(named('a'), zone('x')))).toBeUndefined();
    const twice = { matchFields: [...named('a').matchFields!, ...named('b').matchFields!] };
    expect(preFilter(required(twice, named('c')))).toEqual({ nodeNames: new Set(['c']) });
  });

  it('rejects a pod whose terms all contradict themselves', () => {
    const twice = { matchFields: [...named('a').matchFields!, ...named('b').matchFields!] };
    expect(preFilter(required(twice))).toMatchObject({
      code: 'UnschedulableAndUnresolvable',
      message: 'pod affinity terms conflict',
    });
  });

  describe('with invalid terms', () => {
    const near = { matchExpressions: [{ key: 'zone', operator: 'Near', values: ['x'] }] };

    it('rejects a pod without valid terms and names the field', () => {
      const pod = required(near, near);
      expect(preFilter(pod)).toMatchObject({
        code: 'UnschedulableAndUnresolvable',
        message: expect.stringMatching(
          /^spec\.affinity\.nodeAffinity\.requiredDuring.*\.nodeSelectorTerms\[0\]\.matchExpressions\[0\]\.operator must be/,
        ),
      });
      expect(reasonFor(pod, { zone: 'x' })).toBe(mismatch);
    });

    it('uses the valid terms if there are any, like kube-scheduler', () => {
      const pod = required(near, zone('x'));
      expect(preFilter(pod)).toBeUndefined();
      expect(reasonFor(pod, { zone: 'x' })).toBeUndefined();
      expect(reasonFor(pod, { zone: 'y' })).toBe(mismatch);
    });

    it('fails a pod with an invalid preferred term at PreScore', () => {
      const pod = build.projectedPod(preferred([1, near]));
      expect(plugin.preFilter!(state, pod)).toMatchObject({ code: 'Skip' });
      expect(plugin.preScore!(state, pod, () => [])).toMatchObject({
        code: 'Error',
        message: expect.stringContaining(
          'preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions',
        ),
      });
    });
  });
});

describe('preferred terms', () => {
  it('score a node by the weights of the matching terms; the best node gets 100', () => {
    const pod = build.projectedPod(
      preferred([60, zone('x')], [20, { matchExpressions: [{ key: 'ssd', operator: 'Exists' }] }]),
    );
    const labelled: Record<string, string>[] = [{ zone: 'x', ssd: '' }, { zone: 'x' }, { ssd: '' }, {}];
    const nodes = labelled.map((labels) => build.nodeInfo({ labels }));
    const scores = Float64Array.from(nodes, (node) => plugin.score!(state, pod, node));
    expect([...scores]).toEqual([80, 60, 20, 0]);
    plugin.normalizeScore!(state, pod, scores);
    expect([...scores]).toEqual([100, 75, 25, 0]);
  });

  it('disable Score if there are none', () => {
    expect(plugin.preScore!(state, build.projectedPod(required(zone('x'))), () => [])).toMatchObject({ code: 'Skip' });
    expect(plugin.preScore!(state, build.projectedPod(preferred([1, zone('x')])), () => [])).toBeUndefined();
  });
});

describe('addedAffinity', () => {
  const enforced = createNodeAffinity(
    {
      addedAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [zone('x')] },
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, preference: zone('x') }],
      },
    },
    handle,
  );

  it('applies to pods without requirements', () => {
    expect(enforced.preFilter!(state, build.projectedPod())).toBeUndefined();
    expect(reasonFor({}, { zone: 'y' }, enforced)).toBe("node(s) didn't match scheduler-enforced node affinity");
    expect(reasonFor({}, { zone: 'x' }, enforced)).toBeUndefined();
  });

  it('adds to the pod’s preferred terms', () => {
    const pod = build.projectedPod(preferred([5, zone('x')]));
    expect(enforced.preScore!(state, build.projectedPod(), () => [])).toBeUndefined();
    expect(enforced.score!(state, pod, build.nodeInfo({ labels: { zone: 'x' } }))).toBe(15);
  });
});

it('signs pods with equal requirements equally, whatever the order of their selectors', () => {
  const sign = (pod: PodOptions): string | undefined => plugin.sign!(build.projectedPod(pod));
  expect(sign({ nodeSelector: { a: '1', b: '2' } })).toBe(sign({ nodeSelector: { b: '2', a: '1' } }));
  expect(new Set([sign({}), sign({ nodeSelector: { a: '1' } }), sign(required(zone('x')))]).size).toBe(3);
});

it('requeues a rejected pod when a node starts to match', () => {
  const { hint } = plugin.eventsToRegister!()[0]!;
  const pod = build.projectedPod({ nodeSelector: { disk: 'ssd' } });
  const [fast, slow] = [build.projectedNode({ labels: { disk: 'ssd' } }), build.projectedNode()];
  expect(hint!(pod, { resource: 'Node', action: 'Update', old: slow, new: fast })).toBe(true);
  expect(hint!(pod, { resource: 'Node', action: 'Update', old: fast, new: fast })).toBe(false);
  expect(hint!(pod, { resource: 'Node', action: 'Update', old: fast, new: slow })).toBe(false);
  expect(hint!(pod, { resource: 'Node', action: 'Add', old: undefined, new: fast })).toBe(true);
  expect(hint!(pod, { resource: 'Node', action: 'Add', old: undefined, new: slow })).toBe(false);
});
