import * as fc from 'fast-check';
import type { ApiObject, Question } from './question.ts';

/** The parts of a node that a comparison sets; the rest is the same for all. */
export interface NodeParts {
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: ApiObject;
  readonly status?: ApiObject;
}

/** The parts of a pod that a comparison sets; the rest is the same for all. */
export interface PodParts {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Seconds after January 1, 2026. */
  readonly createdAt?: number;
  readonly spec?: ApiObject;
  readonly status?: ApiObject;
}

const oneContainer = [{ name: 'main', image: 'registry.example/main:1' }];

export function nodeObject(name: string, { labels, spec, status }: NodeParts = {}): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `uid-of-${name}`, resourceVersion: '1', ...(labels !== undefined && { labels }) },
    spec: spec ?? {},
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110' }, ...status },
  };
}

export function podObject(name: string, { namespace, labels, createdAt = 0, spec, status }: PodParts = {}): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: namespace ?? 'default',
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      creationTimestamp: new Date(Date.UTC(2026, 0, 1) + createdAt * 1000).toISOString().replace('.000', ''),
      ...(labels !== undefined && { labels }),
    },
    spec: { containers: oneContainer, ...spec },
    ...(status !== undefined && { status }),
  };
}

/** `n0`, `n1`, … */
export const nodeNames = ['n0', 'n1', 'n2', 'n3', 'n4', 'n5'] as const;

export interface ClusterParts {
  readonly plugin: string;
  readonly args?: fc.Arbitrary<ApiObject | undefined>;
  readonly node?: fc.Arbitrary<NodeParts>;
  /** The pod to schedule. */
  readonly pod: fc.Arbitrary<PodParts>;
  /** A bound pod; absent: there are none. */
  readonly placed?: fc.Arbitrary<PodParts>;
  /** Default: 12. */
  readonly maxPlaced?: number;
  readonly objects?: fc.Arbitrary<readonly ApiObject[]>;
}

/** Generates questions about a cluster of one to six nodes with pods; sometimes a pod is bound to an unknown node. */
export function questionsOf(parts: ClusterParts): fc.Arbitrary<Question> {
  const { plugin, args = fc.constant(undefined), node = fc.constant<NodeParts>({}), pod, objects } = parts;
  const where = fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom<string>(...nodeNames) },
    { weight: 1, arbitrary: fc.constant('unseen') },
  );
  const placed: fc.Arbitrary<[string, PodParts][]> =
    parts.placed === undefined
      ? fc.constant([])
      : fc.array(fc.tuple(where, parts.placed), { maxLength: parts.maxPlaced ?? 12 });
  return fc
    .record({
      args,
      nodes: fc.array(node, { minLength: 1, maxLength: nodeNames.length }),
      placed,
      pod,
      objects: objects ?? fc.constant(undefined),
    })
    .map(({ args: given, nodes, placed: on, pod: waiting, objects: others }) => ({
      plugin,
      ...(given !== undefined && { args: given }),
      nodes: nodes.map((each, index) => nodeObject(nodeNames[index]!, each)),
      pods: on.map(([nodeName, each], index) =>
        podObject(`placed-${index}`, {
          ...each,
          spec: { ...each.spec, nodeName },
          status: { phase: 'Running', ...each.status },
        }),
      ),
      ...(others !== undefined && { objects: others }),
      pod: podObject('waiting', waiting),
    }));
}

/** Generates the value in `often` of 10 cases, otherwise undefined. */
export function maybe<T>(arbitrary: fc.Arbitrary<T>, often = 5): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: often, arbitrary }, { weight: 10 - often, arbitrary: fc.constant(undefined) });
}

/** Generates an object with the defined fields. */
export function fields(model: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<ApiObject> {
  return fc
    .record({ ...model })
    .map((record) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)));
}
