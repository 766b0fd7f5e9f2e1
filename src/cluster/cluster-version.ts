import { createHash } from 'node:crypto';
import type { Node } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';
import type { ResourceList } from '../api/resource-list.ts';
import type { ResourceNames } from '../api/resource-names.ts';
import type { Cluster } from './cluster.ts';

/** Number of hexadecimal digits of a version. */
const digits = 16;

/**
 * Returns a digest of what decides where pods fit: what scheduling reads of the nodes, the pods on them and whether they are being deleted, and the
 * quorums of the groups. Two caches of the same cluster state have the same version, whatever the order in which they were filled. Heartbeats,
 * conditions and resourceVersions do not change it. Storage objects are not part of it.
 */
export function clusterVersion(cluster: Pick<Cluster, 'nodes' | 'pods' | 'nodeOf' | 'gangs' | 'resources'>): string {
  const { resources } = cluster;
  const lines = cluster.nodes.map(({ node }) => lineOfNode(node, resources));
  /** labels or template -> its text: pods share these objects */
  const texts = new Map<object, string>();
  const once = <T extends object>(shared: T, describe: (shared: T) => string): string => {
    let text = texts.get(shared);
    if (text === undefined) texts.set(shared, (text = describe(shared)));
    return text;
  };
  for (const pod of cluster.pods()) {
    const node = cluster.nodeOf(pod);
    if (node === undefined) continue;
    const labels = once(pod.labels, sortedText);
    const template = once(pod.template, (shared) => textOfTemplate(shared, resources));
    lines.push(`pod ${pod.uid} ${node.name} ${pod.deleting} ${pod.podGroupKey} ${labels} ${template}`);
  }
  for (const { key, spec } of cluster.gangs()) {
    if (spec !== undefined) lines.push(`group ${key} ${spec.uid} ${spec.minMember}`);
  }
  const hash = createHash('sha256');
  for (const line of lines.sort()) hash.update(line).update('\n');
  return hash.digest('hex').slice(0, digits);
}

function lineOfNode(
  { name, labels, taints, unschedulable, allocatable, declaredFeatures }: Node,
  names: ResourceNames,
): string {
  const rejecting = taints.map(({ key, value, effect }) => JSON.stringify([key, value, effect])).sort();
  const parts = [
    sortedText(labels),
    rejecting.join(),
    unschedulable,
    amountsText(allocatable, names),
    declaredFeatures.join(),
  ];
  return `node ${name} ${parts.join(' ')}`;
}

/** Describes what a pod on a node takes from others: resources, ports, and the domains that its affinity closes to them. */
function textOfTemplate({ requests, hostPorts, podAffinity }: Pod['template'], names: ResourceNames): string {
  return `${amountsText(requests, names)} ${JSON.stringify([hostPorts, podAffinity])}`;
}

function amountsText({ ids, amounts }: ResourceList, names: ResourceNames): string {
  return ids
    .map((id, index) => `${names.nameOf(id)}=${amounts[index]}`)
    .sort()
    .join();
}

function sortedText(record: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(record).sort());
}
