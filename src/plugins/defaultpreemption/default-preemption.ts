import type { Pod } from '../../api/pod.ts';
import type { EventRegistration } from '../../framework/cluster-event.ts';
import type { Plugin, PluginFactory, PostFilterResult } from '../../framework/plugin.ts';
import type { PluginHandle } from '../../framework/plugin-handle.ts';
import type { PreemptionPolicy } from '../../framework/preemption-policy.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { readDefaultPreemptionArgs } from './default-preemption-args.ts';
import type { DefaultPreemptionArgs } from './default-preemption-args.ts';
import { DisruptionBudgets } from './disruption-budgets.ts';
import { describeOutcome } from './preemption-texts.ts';

const name = 'DefaultPreemption';
const notEligible: PostFilterResult = { message: 'preemption: not eligible due to preemptionPolicy=Never.' };

/**
 * Preempts pods of lower priority for an entity that does not fit. The plugin decides which pods may go; the scheduler searches for the victims and
 * evicts them. A gang preempts with the lowest priority of its members, and defends itself with the highest.
 */
class DefaultPreemption implements Plugin {
  readonly name = name;
  readonly reads = ['PodDisruptionBudget'] as const;
  readonly #policy: PreemptionPolicy;

  constructor(args: DefaultPreemptionArgs, handle: PluginHandle) {
    const budgets = new DisruptionBudgets(handle.cluster.listed);
    this.#policy = {
      protects: (pod) => protection(pod, args, handle.clock.now()),
      get hasBudgets() {
        return budgets.areAny;
      },
      allowances: (pod) => budgets.of(pod),
      maxPlans: args.maxPlans,
      describe: describeOutcome,
    };
  }

  /** The priority is part of every signature. */
  sign({ template }: Pod): string {
    return template.neverPreempts === true ? 'Never' : '';
  }

  postFilter(schedulingEntity: SchedulingEntity): PostFilterResult {
    const pods = schedulingEntity.kind === 'pod' ? [schedulingEntity.pod] : [...schedulingEntity.gang.pending.values()];
    if (pods.some(({ template }) => template.neverPreempts === true)) return notEligible;
    return { message: '', policy: this.#policy };
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [];
  }
}

/** Returns why the pod must not be evicted now. `now`: milliseconds since the epoch. */
function protection(
  { template, priority, startedAt }: Pod,
  { minRuntimeSeconds, protectedPriorityAtLeast = Infinity }: DefaultPreemptionArgs,
  now: number,
): string | undefined {
  if (template.isStatic === true) return 'that are static';
  if (priority >= protectedPriorityAtLeast) return `with a protected priority of at least ${protectedPriorityAtLeast}`;
  const isYoung = minRuntimeSeconds > 0 && now / 1000 - startedAt < minRuntimeSeconds;
  return isYoung ? `that have run for less than ${minRuntimeSeconds}s` : undefined;
}

export const createDefaultPreemption: PluginFactory = (args, handle) =>
  new DefaultPreemption(readDefaultPreemptionArgs(args), handle);
