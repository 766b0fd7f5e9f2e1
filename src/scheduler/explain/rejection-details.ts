import { formatAmount } from '../../api/format-amount.ts';
import type { RejectionDetail } from '../../api/explain/explanation.ts';
import { compileNodeSelectorTerm, SelectorError } from '../../api/label-selector.ts';
import type { Node } from '../../api/node.ts';
import type { NodeSelectorRequirement, Pod } from '../../api/pod.ts';
import type { RejectionReason } from '../../api/rejection-code.ts';
import { amountOf } from '../../api/resource-list.ts';
import type { ResourceNames } from '../../api/resource-names.ts';
import { isTolerated } from '../../api/tolerations.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { Status } from '../../framework/status.ts';

/**
 * Returns what a rejection of the pod by these nodes says, for users who may see nodes: one detail for each reason. `key`: see `decidingKey`.
 */
export function rejectionDetails(
  { plugin, details }: Status,
  pod: Pod,
  nodes: readonly NodeView[],
  resources: ResourceNames,
  key: string | undefined,
): readonly RejectionDetail[] {
  return details.map((reason) => ({
    plugin,
    code: reason.code,
    ...amountsOf(reason, pod, nodes, resources),
    ...(key !== undefined && { key }),
    message: reason.text,
  }));
}

function amountsOf(
  { code, resource }: RejectionReason,
  pod: Pod,
  nodes: readonly NodeView[],
  resources: ResourceNames,
): Pick<RejectionDetail, 'resource' | 'needed' | 'mostFree'> {
  if (resource === undefined) return {};
  if (code === 'GroupExceedsCluster') return { resource };
  const { requests } = pod.template;
  // `idOf` would keep a name for ever that a tenant has invented.
  const id = requests.ids.find((each) => resources.nameOf(each) === resource);
  if (id === undefined) return { resource };
  const mostFree = nodes.reduce((most, node) => Math.max(most, node.free(id)), 0);
  return {
    resource,
    needed: formatAmount(resource, amountOf(requests, id)),
    mostFree: formatAmount(resource, mostFree),
  };
}

/** Returns the key of the taint or label because of which the node rejects the pod; undefined: no single one decides. */
export function decidingKey(status: Status, pod: Pod, node: Node): string | undefined {
  switch (status.details[0]?.code) {
    case 'UntoleratedTaint':
      return node.taints.find(
        (taint) => taint.effect !== 'PreferNoSchedule' && !isTolerated(taint, pod.template.tolerations),
      )?.key;
    case 'NodeAffinityMismatch':
      return unmatchedKey(pod, node);
    default:
      return undefined;
  }
}

function unmatchedKey({ template }: Pod, node: Node): string | undefined {
  const { nodeSelector = {}, nodeAffinity } = template;
  for (const [key, value] of Object.entries(nodeSelector)) if (node.labels[key] !== value) return key;
  const { nodeSelectorTerms = [] } = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {};
  // Each of several terms may be satisfied by another change.
  const [term, ...others] = nodeSelectorTerms;
  if (term === undefined || others.length > 0) return undefined;
  return term.matchExpressions?.find((requirement) => !matches(requirement, node))?.key;
}

/** A malformed requirement matches no node. */
function matches(requirement: NodeSelectorRequirement, node: Node): boolean {
  try {
    return compileNodeSelectorTerm({ matchExpressions: [requirement] })(node);
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}
