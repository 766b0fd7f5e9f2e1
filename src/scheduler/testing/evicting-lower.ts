import type { Pod } from '../../api/pod.ts';
import { cpuId } from '../../api/resource-names.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { PluginFactory, PostFilterResult } from '../../framework/plugin.ts';
import type { PluginHandle } from '../../framework/plugin-handle.ts';

/**
 * A PostFilter plugin for gangs that keeps the whole contract of shared results: it signs what it reads, registers the events that may
 * change its results, and rules out gangs that are too large. Evicts all single pods of lower priority on the nodes that it nominates.
 */
export const evictingLower: { readonly name: string; readonly factory: PluginFactory } = {
  name: 'EvictingLower',
  factory: (_args, handle) => ({
    name: 'EvictingLower',
    sign: ({ priority }) => `${priority}`,
    postFilter: (schedulingEntity) => evictionsFor(schedulingEntity, handle),
    rulesOut: ({ podClasses, needed, priority }) => {
      const smallest = podClasses
        .flatMap(({ pod, count }) => Array.from({ length: count }, () => pod.template.nonZeroMilliCpu))
        .sort((a, b) => a - b)
        .slice(0, needed)
        .reduce((sum, cpu) => sum + cpu, 0);
      const evicted = lowerThan(priority, handle).reduce((sum, { template }) => sum + template.nonZeroMilliCpu, 0);
      return smallest > handle.cluster.capacity.free(cpuId) + evicted;
    },
    eventsToRegister: () => [
      {
        resource: 'AssignedPod',
        actions: ['Add', 'Update', 'Delete'],
        hint: ({ priority }, event) =>
          event.resource === 'AssignedPod' && (event.action === 'Delete' || event.pod.priority < priority),
      },
      { resource: 'Node', actions: ['Add', 'Update'] },
    ],
  }),
};

/** Returns what the plugin returns in PostFilter; undefined for a single pod. */
export function evictionsFor(
  schedulingEntity: SchedulingEntity,
  { cluster, dryRun }: Pick<PluginHandle, 'cluster' | 'dryRun'>,
): PostFilterResult | undefined {
  if (schedulingEntity.kind === 'pod') return undefined;
  const priority = Math.min(...[...schedulingEntity.gang.pending.values()].map((member) => member.priority));
  const lower = lowerThan(priority, { cluster }).filter(({ deleting }) => !deleting);
  const { fits, plan } = dryRun(schedulingEntity, { without: lower });
  if (!fits || lower.length === 0) return { message: 'Preemption would not help.', eventsMayHelp: true };
  const nodes = new Set(plan.map(({ nodeName }) => nodeName));
  return {
    message: 'Preempts pods.',
    nominations: plan,
    victims: lower.filter(({ nodeName }) => nodes.has(nodeName)),
  };
}

function lowerThan(limit: number, { cluster }: Pick<PluginHandle, 'cluster'>): readonly Pod[] {
  return cluster.nodes
    .flatMap(({ pods }) => [...pods.values()])
    .filter(({ nodeName, priority, podGroupKey }) => nodeName !== '' && priority < limit && podGroupKey === undefined);
}
