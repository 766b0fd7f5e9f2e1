import type { PluginCalls } from './plugin-calls.ts';
import { PluginFailure } from './plugin-failure.ts';
import type { Plugin } from './plugin.ts';
import type { PreemptionPolicy } from './preemption-policy.ts';

/** Returns the plugin's policy with methods that throw PluginFailure, which names the plugin, when its own throw. */
export function guardedPolicy(plugin: Plugin, policy: PreemptionPolicy, calls: PluginCalls): PreemptionPolicy {
  const guard = <T>(run: () => T): T => {
    try {
      return run();
    } catch (error) {
      throw new PluginFailure(calls.failure(plugin, 'PostFilter', error));
    }
  };
  return {
    protects: (pod) => guard(() => policy.protects(pod)),
    skipped: (pods, groups, budgets) => {
      guard(() => {
        policy.skipped(pods, groups, budgets);
      });
    },
    get hasBudgets() {
      return policy.hasBudgets;
    },
    allowances: (pod) => guard(() => policy.allowances(pod)),
    ...(policy.budgetProtects !== undefined && {
      budgetProtects: (budget) => guard(() => policy.budgetProtects!(budget)),
    }),
    maxPlans: policy.maxPlans,
    maxVictims: policy.maxVictims,
    maxVictimGroups: policy.maxVictimGroups,
    describe: (outcome, of, namespace) => guard(() => policy.describe(outcome, of, namespace)),
  };
}
