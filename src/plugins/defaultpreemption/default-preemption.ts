import { isDeepStrictEqual } from 'node:util';
import type { PodDisruptionBudget } from '../../api/pod-disruption-budget.ts';
import type { Pod } from '../../api/pod.ts';
import { amountOf, sameResources } from '../../api/resource-list.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { Plugin, PluginFactory, PostFilterResult } from '../../framework/plugin.ts';
import type { ClusterLister, PluginHandle } from '../../framework/plugin-handle.ts';
import type { PreemptionLimits } from '../../framework/preemption-limits.ts';
import type { PodProtection, PreemptionPolicy } from '../../framework/preemption-policy.ts';
import { smallestAmounts } from '../../framework/resource-demand.ts';
import type { ResourceDemand } from '../../framework/resource-demand.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { limitsOf, readDefaultPreemptionArgs } from './default-preemption-args.ts';
import type { DefaultPreemptionArgs } from './default-preemption-args.ts';
import { DisruptionBudgets } from './disruption-budgets.ts';
import { describeOutcome } from './preemption-texts.ts';

const name = 'DefaultPreemption';
const budgetChanges = { resource: 'PodDisruptionBudget', actions: ['Update', 'Delete'] } as const;
/** Maximum number of skipped pods to remember, of groups and of budgets. */
const maxSkipped = 10_000;
const never: PostFilterResult = { message: 'preemption: not eligible due to preemptionPolicy=Never.' };
const surplus: PostFilterResult = { message: 'preemption: not eligible: the group has its minMember without the pod.' };

/**
 * Preempts pods of lower priority for an entity that does not fit. The plugin decides which pods may go; the scheduler searches for the victims and
 * evicts them. A gang preempts with the lowest priority of its members, and defends itself with the highest.
 */
class DefaultPreemption implements Plugin {
  readonly name = name;
  readonly reads = ['PodDisruptionBudget'] as const;
  readonly #cluster: ClusterLister;
  readonly #policy: PreemptionPolicy;
  readonly #surplusPreempts: boolean;
  readonly preemptionLimits: PreemptionLimits;
  /** uids of pods that a search skipped because they were being bound */
  #skipped = new Set<string>();
  /** budget that kept pods from being evicted -> their lowest priority */
  #budgets = new Map<string, number>();
  readonly #keepsBudgets: boolean;
  /** keys of groups of which a search could not evict pods because others must stay */
  #held = new Set<string>();

  constructor(args: DefaultPreemptionArgs, handle: PluginHandle) {
    this.#cluster = handle.cluster;
    this.#surplusPreempts = args.surplusPreempts;
    this.preemptionLimits = limitsOf(args);
    this.#keepsBudgets = args.podDisruptionBudgets === 'Enforce';
    const budgets = new DisruptionBudgets(handle.cluster.listed);
    this.#policy = {
      protects: (pod) => protection(pod, args, handle.clock.now()),
      skipped: (pods, groups, kept) => {
        if (this.#skipped.size > maxSkipped) this.#skipped = new Set();
        for (const { uid } of pods) this.#skipped.add(uid);
        if (this.#held.size > maxSkipped) this.#held = new Set();
        for (const { key } of groups) this.#held.add(key);
        if (this.#budgets.size > maxSkipped) this.#budgets = new Map();
        for (const [budget, priority] of kept)
          this.#budgets.set(budget, Math.min(priority, this.#budgets.get(budget) ?? Infinity));
      },
      get hasBudgets() {
        return budgets.areAny;
      },
      allowances: (pod) => budgets.of(pod),
      ...(this.#keepsBudgets && {
        // The verdict may be of a user who cannot see the budget.
        budgetProtects: () => ({ why: 'protected by a PodDisruptionBudget' }),
      }),
      maxPlans: args.maxPlans,
      maxVictims: args.maxVictims || undefined,
      maxVictimGroups: args.maxVictimGroups || undefined,
      describe: describeOutcome,
    };
  }

  /** What a search reads of the pod besides what other plugins read. Also what the hints read. */
  sign({ priority, podGroupKey, template }: Pod): string {
    const { requests, neverPreempts = false } = template;
    const mayBeSurplus = podGroupKey !== undefined && !this.#surplusPreempts;
    return `${priority} ${neverPreempts} ${mayBeSurplus} ${requests.ids.join(',')} ${requests.amounts.join(',')}`;
  }

  postFilter(schedulingEntity: SchedulingEntity): PostFilterResult {
    if (this.#isSurplus(schedulingEntity)) return surplus;
    const pods = schedulingEntity.kind === 'pod' ? [schedulingEntity.pod] : [...schedulingEntity.gang.pending.values()];
    if (pods.some(({ template }) => template.neverPreempts === true)) return never;
    return { message: '', policy: this.#policy };
  }

  /** Returns whether the entity is a member beyond the quorum of its group that must not preempt. */
  #isSurplus(schedulingEntity: SchedulingEntity): boolean {
    if (schedulingEntity.kind === 'gang' || this.#surplusPreempts) return false;
    const { podGroupKey } = schedulingEntity.pod;
    const gang = podGroupKey === undefined ? undefined : this.#cluster.gang(podGroupKey);
    return gang?.spec !== undefined && gang.spec.minMember > 0 && gang.missing === 0;
  }

  /** True if a pod never preempts, or if the `needed` smallest requests exceed what is free or requested by pods of lower priority. */
  rulesOut({ podClasses, needed, priority }: ResourceDemand): boolean {
    if (podClasses.some(({ pod }) => pod.template.neverPreempts === true)) return true;
    const { capacity, requestedByPriority } = this.#cluster;
    const ids = new Set(podClasses.flatMap(({ pod }) => pod.template.requests.ids));
    for (const id of ids) {
      const amounts = podClasses.map(({ pod, count }) => [amountOf(pod.template.requests, id), count] as const);
      const { sum } = smallestAmounts(amounts, needed);
      // Sums of bytes over many nodes may be inexact.
      if (sum > (capacity.free(id) + requestedByPriority.totalBelow(priority, id)) * (1 + 1e-9)) return true;
    }
    return false;
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [
      { resource: 'AssignedPod', actions: ['Add'], hint: (pod, event) => this.#isBoundNow(pod, event) },
      {
        resource: 'AssignedPod',
        actions: ['Update', 'Delete'],
        hint: (pod, event) => this.#mayRelease(event) || this.#fitsOnlyWithoutLower(pod, event),
      },
      { resource: 'PodGroup', actions: ['Update', 'Delete'], hint: (_pod, event) => this.#mayRelease(event) },
      {
        resource: 'Node',
        actions: ['Add', 'Update'],
        hint: (pod, event) => changesCapacity(event) && this.#fitsOnlyWithoutLower(pod, event),
      },
      ...(this.#keepsBudgets ? [{ ...budgetChanges, hint: this.#mayAllow }] : []),
    ];
  }

  /** A pod that could not be evicted while it was being bound can be evicted now. */
  #isBoundNow(pod: Pod, event: ClusterEvent): boolean {
    if (this.#mayRelease(event)) return true;
    if (event.resource !== 'AssignedPod' || !this.#skipped.has(event.pod.uid)) return false;
    return event.pod.priority < pod.priority && this.#fitsOnlyWithoutLower(pod, event);
  }

  /** Members may be evicted now if the group has more members, needs fewer, or lost those that must stay. */
  #mayRelease(event: ClusterEvent): boolean {
    const key = event.resource === 'AssignedPod' ? event.pod.podGroupKey : keyOfGroup(event);
    return key !== undefined && this.#held.has(key);
  }

  /** A budget that kept pods of lower priority from being evicted may allow more now. */
  readonly #mayAllow = (pod: Pod, event: ClusterEvent): boolean => {
    if (event.resource !== 'PodDisruptionBudget') return false;
    const { namespace, name } = event.object;
    if ((this.#budgets.get(`${namespace}/${name}`) ?? Infinity) >= pod.priority) return false;
    return mayAllowMore(event.object as PodDisruptionBudget, event.old as PodDisruptionBudget | undefined);
  };

  /**
   * Returns whether the requests of the pod fit on the event's node beside the pods of equal or higher priority, but not beside all pods. If
   * they fit beside all, the plugin that rejected the pod for another reason knows which events help.
   */
  #fitsOnlyWithoutLower({ priority, template }: Pod, event: ClusterEvent): boolean {
    const nodeName = nodeNameIn(event);
    const node = nodeName === undefined ? undefined : this.#cluster.node(nodeName);
    if (node === undefined) return false;
    const { ids, amounts } = template.requests;
    const { requestedByPriority } = this.#cluster;
    const isShort = ids.some((id, i) => amounts[i]! > node.free(id));
    return (
      isShort && ids.every((id, i) => amounts[i]! <= node.free(id) + requestedByPriority.below(priority, node, id))
    );
  }
}

function keyOfGroup(event: ClusterEvent): string | undefined {
  return event.resource === 'PodGroup' ? event.gang.key : undefined;
}

function changesCapacity(event: ClusterEvent): boolean {
  if (event.resource !== 'Node' || event.action === 'Delete') return false;
  return event.old === undefined || !sameResources(event.old.allocatable, event.new.allocatable);
}

function nodeNameIn(event: ClusterEvent): string | undefined {
  if (event.resource === 'AssignedPod') return event.pod.nodeName;
  return event.resource === 'Node' && event.action !== 'Delete' ? event.new.name : undefined;
}

/** `old`: undefined if the budget was deleted. */
function mayAllowMore(now: PodDisruptionBudget, old: PodDisruptionBudget | undefined): boolean {
  if (old === undefined || now.disruptionsAllowed > old.disruptionsAllowed) return true;
  return !isDeepStrictEqual([now.selector, now.disruptedPods], [old.selector, old.disruptedPods]);
}

/** Returns why the pod must not be evicted now. `now`: milliseconds since the epoch. */
function protection(
  { template, priority, startedAt }: Pod,
  args: DefaultPreemptionArgs,
  now: number,
): PodProtection | undefined {
  const { minRuntimeSeconds, protectedPriorityAtLeast = Infinity } = args;
  const maxGrace = args.maxNominationSeconds - args.terminationSlackSeconds;
  if (template.isStatic === true) return { why: 'that are static' };
  if (priority >= protectedPriorityAtLeast)
    return { why: `with a protected priority of at least ${protectedPriorityAtLeast}` };
  if (template.terminationGracePeriodSeconds > maxGrace)
    return { why: `with a termination grace period of more than ${maxGrace}s` };
  const until = (startedAt + minRuntimeSeconds) * 1000;
  const isYoung = minRuntimeSeconds > 0 && now < until;
  return isYoung ? { why: `that have run for less than ${minRuntimeSeconds}s`, until } : undefined;
}

export const createDefaultPreemption: PluginFactory = (args, handle) =>
  new DefaultPreemption(readDefaultPreemptionArgs(args), handle);
