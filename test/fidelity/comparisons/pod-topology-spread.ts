import * as fc from 'fast-check';
import { fields, maybe, questionsOf } from '../arbitraries.ts';
import type { PodParts } from '../arbitraries.ts';
import type { DeliberateDifference, PluginComparison } from '../plugin-comparison.ts';
import type { ApiObject, Question } from '../question.ts';
import { labels, selector, topologyKey, topologyNode, withChanges } from './other-pods.ts';

const namespace = fc.constantFrom('default', 'default', 'default', 'one');
const policy = fc.constantFrom('Honor', 'Ignore');
const common = {
  maxSkew: fc.integer({ min: 1, max: 3 }),
  topologyKey,
  whenUnsatisfiable: fc.constantFrom('DoNotSchedule', 'ScheduleAnyway'),
  minDomains: maybe(fc.integer({ min: 1, max: 4 }), 2),
  nodeAffinityPolicy: maybe(policy, 3),
  nodeTaintsPolicy: maybe(policy, 3),
};
const constraint = fields({
  ...common,
  labelSelector: selector,
  matchLabelKeys: maybe(fc.constantFrom(['revision'], ['tier'], ['revision', 'tier']), 2),
});

const waiting: fc.Arbitrary<PodParts> = fc.record({
  namespace,
  labels,
  spec: fields({
    topologySpreadConstraints: maybe(fc.array(constraint, { maxLength: 3 }), 7),
    nodeSelector: maybe(fc.constant({ disk: 'ssd' }), 2),
    affinity: maybe(
      fc.constantFrom<ApiObject>(
        {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'rack', operator: 'In', values: ['r0'] }] }],
            },
          },
        },
        {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] },
                { matchExpressions: [{ key: 'disk', operator: 'Exists' }] },
              ],
            },
          },
        },
      ),
      2,
    ),
    tolerations: maybe(
      fc.constantFrom(
        [{ key: 't', operator: 'Exists' }],
        [{ operator: 'Exists', effect: 'NoSchedule' }],
        [{ key: 't', value: 'v' }],
        [
          { key: 't', operator: 'Gt', value: '4' },
          { key: 'u', operator: 'Equal', value: 'v', effect: 'NoExecute' },
        ],
        [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }],
      ),
      3,
    ),
  }),
});
const placed: fc.Arbitrary<PodParts> = fc.record({ namespace, labels });

const name = fc.constantFrom('x', 'y');
const map = fc.constantFrom<ApiObject>({ app: 'a' }, { app: 'b' }, { app: 'a', tier: 'x' }, { tier: 'y' }, {});
const service = fields({ namespace, name, selector: maybe(map, 9) }).map((all) => objectOf('v1', 'Service', all));
const controller = fc
  .record({ kind: fc.constantFrom('ReplicaSet', 'StatefulSet'), namespace, name, selector })
  .map(({ kind, ...all }) => objectOf('apps/v1', kind, all));
const replication = fields({ namespace, name, selector: maybe(map, 9) }).map((all) =>
  objectOf('v1', 'ReplicationController', all),
);
const objects = fc
  .tuple(fc.array(service, { maxLength: 2 }), fc.array(fc.oneof(controller, replication), { maxLength: 4 }))
  .map(([services, controllers]) => {
    // At most one per kind and name.
    const all = [...services, ...controllers];
    return [...new Map(all.map((object) => [JSON.stringify([object.kind, object.metadata]), object])).values()];
  });

function objectOf(
  apiVersion: string,
  kind: string,
  { namespace: of, name: called, selector: its }: ApiObject,
): ApiObject {
  const spec = its === undefined ? {} : { selector: its };
  return { apiVersion, kind, metadata: { name: called, namespace: of }, spec };
}

const owner = fc.record({
  kind: fc.constantFrom('ReplicaSet', 'StatefulSet', 'ReplicationController', 'Job', 'Other'),
  name,
  controller: fc.constantFrom(true, true, true, false),
});

function owned(
  question: Question,
  { kind, name: called, controller: is }: { kind: string; name: string; controller: boolean },
): Question {
  const apiVersion = kind === 'ReplicationController' ? 'v1' : kind === 'Job' ? 'batch/v1' : 'apps/v1';
  const ownerReferences = [{ apiVersion, kind, name: called, uid: 'uid-of-owner', controller: is }];
  const { metadata } = question.pod as { readonly metadata: ApiObject };
  return { ...question, pod: { ...question.pod, metadata: { ...metadata, ownerReferences } } };
}

const defaultConstraint = fields({
  nodeAffinityPolicy: maybe(policy, 2),
  matchLabelKeys: maybe(fc.constant(['revision']), 1),
  maxSkew: common.maxSkew,
  topologyKey,
  whenUnsatisfiable: common.whenUnsatisfiable,
  minDomains: maybe(fc.integer({ min: 1, max: 3 }), 1),
  nodeTaintsPolicy: maybe(policy, 2),
});
const args = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant<ApiObject>({ defaultingType: 'System' }) },
  {
    weight: 3,
    arbitrary: fields({
      defaultingType: fc.constant('List'),
      defaultConstraints: maybe(
        fc.uniqueArray(defaultConstraint, {
          maxLength: 3,
          selector: ({ topologyKey: key, whenUnsatisfiable }) => JSON.stringify([key, whenUnsatisfiable]),
        }),
        9,
      ),
    }),
  },
);

const changes = withChanges(
  questionsOf({ plugin: 'PodTopologySpread', args, node: topologyNode, pod: waiting, placed, objects }),
  placed,
);

/** Some pods are terminating. */
const leaving = fc
  .record({ question: changes, owner: maybe(owner, 4), leaves: fc.array(fc.nat({ max: 11 }), { maxLength: 3 }) })
  .map(({ question, owner: its, leaves }) => {
    const pods = question.pods.map((pod, index) =>
      leaves.includes(index)
        ? {
            ...pod,
            metadata: {
              ...(pod.metadata as ApiObject),
              deletionTimestamp: '2026-01-01T00:00:00Z',
              deletionGracePeriodSeconds: 30,
            },
          }
        : pod,
    );
    const left = { ...question, pods };
    return its === undefined ? left : owned(left, its);
  });

/**
 * After several changes, kube-scheduler tracks the minimum of only two domains, counts added pods although the selector is empty, and
 * subtracts removed pods that did not count because they were terminating. Tutti's counts are those of the existing pods.
 */
const exactAfterChanges: DeliberateDifference = {
  name: 'spread-counts-stay-exact',
  explains: ({ where }, { question: { added = [], removed = [], pods, pod } }) => {
    if (!where.startsWith('Filter of ')) return false;
    const { topologySpreadConstraints = [] } = pod.spec as {
      readonly topologySpreadConstraints?: readonly ApiObject[];
    };
    const countsNobody = topologySpreadConstraints.some(({ labelSelector }) => isEmptySelector(labelSelector));
    const wasLeaving = pods.some(({ metadata }) => {
      const { uid, deletionTimestamp } = metadata as { readonly uid: string; readonly deletionTimestamp?: string };
      return removed.includes(uid) && deletionTimestamp !== undefined;
    });
    return added.length + removed.length > 1 || countsNobody || wasLeaving;
  },
};

/**
 * The system defaults include nodes without a zone. kube-scheduler counts them in one domain with nodes whose label is empty. For Tutti an
 * empty label is a separate domain.
 */
const emptyLabel: DeliberateDifference = {
  name: 'empty-label-is-a-domain',
  explains: ({ where }, { question: { args: given, nodes, pod } }) => {
    const { topologySpreadConstraints = [] } = pod.spec as {
      readonly topologySpreadConstraints?: readonly ApiObject[];
    };
    const zones = nodes.map(
      ({ metadata }) => (metadata as { readonly labels?: ApiObject }).labels?.['topology.kubernetes.io/zone'],
    );
    const isSystem = given?.defaultingType !== 'List' && topologySpreadConstraints.length === 0;
    return where.startsWith('Score of ') && isSystem && zones.includes('') && zones.includes(undefined);
  },
};

function isEmptySelector(selector: unknown): boolean {
  const { matchLabels = {}, matchExpressions = [] } = (selector ?? { matchExpressions: [''] }) as {
    readonly matchLabels?: object;
    readonly matchExpressions?: readonly unknown[];
  };
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

export const podTopologySpread: PluginComparison = {
  plugin: 'PodTopologySpread',
  differences: [exactAfterChanges, emptyLabel],
  questions: leaving,
};
