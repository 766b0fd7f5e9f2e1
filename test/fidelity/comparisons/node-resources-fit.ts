import * as fc from 'fast-check';
import { fields, maybe, questionsOf } from '../arbitraries.ts';
import type { DeliberateDifference, PluginComparison } from '../plugin-comparison.ts';
import { allocatable, countedResources } from '../quantities.ts';
import type { ApiObject } from '../question.ts';
import { tuttiAnswer } from '../tutti-answer.ts';
import { askingPod, runningPod } from './pod-requests.ts';

const scored = fc.uniqueArray(
  fields({
    name: fc.constantFrom('cpu', 'memory', 'ephemeral-storage', 'pods', ...countedResources),
    weight: fc.constantFrom(1, 1, 2, 5, 100),
  }),
  { minLength: 1, maxLength: 5, selector: ({ name }) => name },
);

const shape = fc
  .uniqueArray(fc.record({ utilization: fc.integer({ min: 0, max: 100 }), score: fc.integer({ min: 0, max: 10 }) }), {
    minLength: 1,
    maxLength: 4,
    selector: ({ utilization }) => utilization,
  })
  .map((points) => points.toSorted((a, b) => a.utilization - b.utilization));

const strategy = fc.oneof(
  fields({ type: fc.constantFrom('LeastAllocated', 'MostAllocated'), resources: maybe(scored, 8) }),
  fields({
    type: fc.constant('RequestedToCapacityRatio'),
    resources: maybe(scored, 8),
    requestedToCapacityRatio: fc.record({ shape }),
  }),
);

/**
 * kube-scheduler counts pod-level requests of bound pods, and in Filter, but not of the pod for which it scores nodes. So its scores must
 * equal Tutti's for a pod without pod-level requests.
 */
const wholePodCounts: DeliberateDifference = {
  name: 'whole-pod-requests-count-in-scores',
  explains: ({ where, kubeScheduler }, { question }) => {
    const node = /^Score of node (.+)$/.exec(where)?.[1];
    const { resources, ...rest } = question.pod.spec as ApiObject;
    if (node === undefined || resources === undefined) return false;
    const { scores = {} } = tuttiAnswer({ ...question, pod: { ...question.pod, spec: rest } });
    return !(node in scores) || String(scores[node]) === kubeScheduler;
  },
};

export const nodeResourcesFit: PluginComparison = {
  plugin: 'NodeResourcesFit',
  differences: [wholePodCounts],
  questions: questionsOf({
    plugin: 'NodeResourcesFit',
    args: maybe(
      fields({
        scoringStrategy: maybe(strategy, 8),
        ignoredResources: maybe(fc.uniqueArray(fc.constantFrom(...countedResources), { maxLength: 3 }), 3),
        ignoredResourceGroups: maybe(
          fc.uniqueArray(fc.constantFrom('example.com', 'other.example', 'kubernetes.io', 'notkubernetes.io'), {
            maxLength: 2,
          }),
          3,
        ),
      }),
    ),
    node: allocatable.map((given) => ({ status: { allocatable: given } })),
    pod: askingPod,
    placed: runningPod,
    maxPlaced: 5,
  }),
};
