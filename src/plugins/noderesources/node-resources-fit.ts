import { commonResources, podsId } from '../../api/resource-names.ts';
import type { Node } from '../../api/node.ts';
import type { Pod, PodTemplate } from '../../api/pod.ts';
import { amountOf } from '../../api/resource-list.ts';
import type { ResourceList } from '../../api/resource-list.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { ClusterLister, PluginHandle } from '../../framework/plugin-handle.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import type { Status } from '../../framework/status.ts';
import { smallestAmounts } from '../../framework/resource-demand.ts';
import type { ResourceDemand } from '../../framework/resource-demand.ts';
import { latestTemplate } from '../latest-template.ts';
import { AllocationScore } from './allocation-score.ts';
import { readFitArguments } from './fit-arguments.ts';
import type { FitArguments } from './fit-arguments.ts';
import { Shortages } from './shortage.ts';

const name = 'NodeResourcesFit';

/** Rejects nodes without enough free capacity for the pod's requests, including its pod slot. Scores nodes by their utilization. */
class NodeResourcesFit implements Plugin {
  readonly name = name;
  readonly #cluster: ClusterLister;
  readonly #score: AllocationScore;
  readonly #shortages: Shortages;
  readonly #isIgnored: ((resource: string) => boolean) | undefined;
  readonly #signature = latestTemplate(signatureOf);
  // Requests that Filter checks, for the latest template. Used only if resources are ignored.
  #checkedTemplate: PodTemplate | undefined;
  #checked: ResourceList | undefined;

  constructor(args: FitArguments, handle: PluginHandle) {
    this.#cluster = handle.cluster;
    this.#score = new AllocationScore(args.strategy, args.scored, handle.cluster);
    this.#shortages = new Shortages(name, handle.cluster.resources);
    this.#isIgnored = ignoring(args);
  }

  sign(pod: Pod): string {
    return this.#signature(pod.template);
  }

  /** True if, for a resource, the `needed` smallest requests exceed the total free capacity, or one of them exceeds every node. */
  rulesOut({ podClasses, needed }: ResourceDemand): boolean {
    const requests = podClasses.map(({ pod, count }) => ({ list: this.#checkedRequests(pod.template), count }));
    const ids = new Set(requests.flatMap(({ list }) => list.ids));
    const { capacity } = this.#cluster;
    for (const id of ids) {
      const { sum, maximum } = smallestAmounts(
        requests.map(({ list, count }) => [amountOf(list, id), count] as const),
        needed,
      );
      if (sum > capacity.free(id) || maximum > capacity.largest(id)) return true;
    }
    return false;
  }

  filter(_state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    return this.#shortOf(pod.template, node);
  }

  /** Filters by one resource after the other. */
  filterAll(_state: CycleState, pod: Pod, indexes: Int32Array, size: number): number {
    const { ids, amounts } = this.#checkedRequests(pod.template);
    const { nodes, amounts: columns } = this.#cluster;
    let left = size;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (id < commonResources) {
        const { allocatable, requested } = columns.of(id);
        left = keepFitting(indexes, left, allocatable, requested, amounts[i]!);
        continue;
      }
      // The cluster keeps no columns for extended resources, because users can name any number of them.
      let fitting = 0;
      for (let j = 0; j < left; j++) {
        const index = indexes[j]!;
        const { allocatable, requested } = nodes[index]!;
        if (amounts[i]! <= allocatable.of(id) - requested.of(id)) indexes[fitting++] = index;
      }
      left = fitting;
    }
    return left;
  }

  score(_state: CycleState, pod: Pod, node: NodeView): number {
    return this.#score.of(pod.template, node);
  }

  scoreAll(_state: CycleState, pod: Pod, indexes: Int32Array, size: number, scores: Float64Array): void {
    this.#score.ofAll(pod.template, indexes, size, scores);
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [
      { resource: 'AssignedPod', actions: ['Update', 'Delete'], hint: (pod, event) => this.#fitsAfter(pod, event) },
      { resource: 'Node', actions: ['Add', 'Update'], hint: (pod, event) => this.#fitsAfter(pod, event) },
    ];
  }

  #shortOf(template: PodTemplate, node: NodeView): Status | undefined {
    const { ids, amounts } = this.#checkedRequests(template);
    const { allocatable, requested } = node;
    const enough = this.#shortages.none;
    let shortage = enough;
    let resolvable = true;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      const amount = amounts[i]!;
      const capacity = allocatable.of(id);
      if (amount <= capacity - requested.of(id)) continue;
      // As in kube-scheduler, a node that allows no pods at all counts as resolvable.
      if (amount > capacity && id !== podsId) resolvable = false;
      shortage = shortage.and(id);
    }
    if (shortage === enough) return undefined;
    return resolvable ? shortage.unschedulable : shortage.unresolvable;
  }

  /**
   * Hint: returns whether the pod now fits on the event's node. Reads the cluster cache, which already includes the change; each later
   * change runs the hint again.
   */
  #fitsAfter(pod: Pod, event: ClusterEvent): boolean {
    if (event.resource === 'AssignedPod') {
      const mayHaveFreed =
        event.action !== 'Update' || shrank(event.old.template.requests, event.pod.template.requests);
      return mayHaveFreed && this.#fitsOn(pod, event.pod.nodeName);
    }
    if (event.resource !== 'Node' || event.action === 'Delete') return false;
    if (event.old !== undefined && !grew(pod.template.requests, event.old, event.new)) return false;
    return this.#fitsOn(pod, event.new.name);
  }

  #fitsOn(pod: Pod, nodeName: string): boolean {
    const node = this.#cluster.node(nodeName);
    return node !== undefined && this.#shortOf(pod.template, node) === undefined;
  }

  /** Returns the requests that Filter checks. */
  #checkedRequests(template: PodTemplate): ResourceList {
    return this.#isIgnored === undefined ? template.requests : this.#checkedOf(template);
  }

  #checkedOf(template: PodTemplate): ResourceList {
    if (this.#checkedTemplate !== template) {
      const { ids, amounts } = template.requests;
      const isChecked = (_: number, index: number): boolean =>
        !this.#isIgnored!(this.#cluster.resources.nameOf(ids[index]!));
      this.#checked = { ids: ids.filter(isChecked), amounts: amounts.filter(isChecked) };
      this.#checkedTemplate = template;
    }
    return this.#checked!;
  }
}

/** Moves the indexes of the nodes with at least `amount` free to the front, in their order. Returns their number. */
function keepFitting(
  indexes: Int32Array,
  size: number,
  allocatable: Float64Array,
  requested: Float64Array,
  amount: number,
): number {
  let left = 0;
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    if (amount <= allocatable[index]! - requested[index]!) indexes[left++] = index;
  }
  return left;
}

function signatureOf({ requests, nonZeroMilliCpu, nonZeroMemory }: PodTemplate): string {
  return `${requests.ids.join(',')}:${requests.amounts.join(',')}:${nonZeroMilliCpu}:${nonZeroMemory}`;
}

/** Returns undefined if nothing is ignored. Only extended resources can be: their names have a group without `kubernetes.io/`. */
function ignoring({ ignoredResources, ignoredResourceGroups }: FitArguments): ((name: string) => boolean) | undefined {
  if (ignoredResources.length === 0 && ignoredResourceGroups.length === 0) return undefined;
  const resources = new Set(ignoredResources);
  const groups = new Set(ignoredResourceGroups);
  return (resource) => {
    if (!resource.includes('/') || resource.includes('kubernetes.io/')) return false;
    return resources.has(resource) || groups.has(resource.split('/', 1)[0]!);
  };
}

/** Returns whether any request became smaller. */
function shrank(before: ResourceList, after: ResourceList): boolean {
  return before.ids.some((id, i) => before.amounts[i]! > amountOf(after, id));
}

/** Returns whether the allocatable amount of any requested resource grew. */
function grew(requests: ResourceList, before: Node, after: Node): boolean {
  return requests.ids.some((id) => amountOf(after.allocatable, id) > amountOf(before.allocatable, id));
}

/** Arguments: kube-scheduler's NodeResourcesFitArgs. */
export const createNodeResourcesFit: PluginFactory = (args, handle) =>
  new NodeResourcesFit(readFitArguments(args), handle);
