import { beforeEach, describe, expect, it } from 'vitest';
import { ResourceNames } from '../api/resource-names.ts';
import { Builders } from '../testkit/builders/builders.ts';
import type { NodeOptions } from '../testkit/builders/node.ts';
import type { PodOptions } from '../testkit/builders/pod.ts';
import { clusterVersion } from './cluster-version.ts';
import { Cluster } from './cluster.ts';

const node: NodeOptions = {
  name: 'a',
  cpu: 4,
  memory: '8Gi',
  labels: { zone: 'x', pool: 'y' },
  taints: ['k=v:NoSchedule'],
};
const pod: PodOptions = { name: 'p', uid: 'p', nodeName: 'a', cpu: 1, requests: { 'example.com/gpu': 1 } };

/** Each cluster has resource ids of its own. */
function versionOf(nodes: readonly NodeOptions[], pods: readonly PodOptions[], isReversed = false): string {
  const cluster = new Cluster(new ResourceNames());
  const build = new Builders({ resources: cluster.resources });
  const fill = [
    ...nodes.map((options) => () => void cluster.setNode(build.projectedNode(options))),
    ...pods.map((options) => () => void cluster.setPod(build.projectedPod(options))),
  ];
  for (const add of isReversed ? fill.reverse() : fill) add();
  return clusterVersion(cluster);
}

let version: string;
beforeEach(() => {
  version = versionOf([node, { name: 'b' }], [pod, { name: 'q', uid: 'q', nodeName: 'b', cpu: 2 }]);
});

describe('the version of a cluster state', () => {
  it('does not depend on the order, nor on ids of resources, resourceVersions and creation times', () => {
    const reversed = versionOf(
      [{ name: 'b' }, { ...node, labels: { pool: 'y', zone: 'x' } }],
      [
        { name: 'q', uid: 'q', nodeName: 'b', cpu: 2 },
        { ...pod, requests: { 'example.com/gpu': 1 } },
      ],
      true,
    );
    expect(reversed).toBe(version);
  });

  it.each<[string, NodeOptions, PodOptions]>([
    ['a label', { labels: { zone: 'z', pool: 'y' } }, {}],
    ['a taint', { taints: [] }, {}],
    ['the allocatable resources', { cpu: 5 }, {}],
    ['a cordon', { unschedulable: true }, {}],
    ["a pod's node", {}, { nodeName: 'b' }],
    ["a pod's requests", {}, { cpu: 2 }],
    ["a pod's end", {}, { phase: 'Succeeded' }],
    ["a pod's deletion", {}, { deleting: true }],
  ])('changes with %s', (_, nodeChange, podChange) => {
    const changed = versionOf(
      [{ ...node, ...nodeChange }, { name: 'b' }],
      [
        { ...pod, ...podChange },
        { name: 'q', uid: 'q', nodeName: 'b', cpu: 2 },
      ],
    );
    expect(changed).not.toBe(version);
  });

  it('stays the same when a pod starts to run, or a pod is created', () => {
    const pending = versionOf(
      [node, { name: 'b' }],
      [{ ...pod, phase: 'Pending' }, { name: 'q', uid: 'q', nodeName: 'b', cpu: 2 }, { name: 'new' }],
    );
    expect(pending).toBe(version);
  });
});
