import type { ProfileConfiguration } from '../../config/scheduler-configuration.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import type { Draws } from './draws.ts';

/** Plugins without which the groups are not scheduled as drawn. */
const needed: ReadonlySet<string> = new Set([
  ...['PrioritySort', 'SchedulingGates', 'DefaultBinder', 'DefaultPreemption', 'Coscheduling', 'NodeResourcesFit'],
  ...['NodeUnschedulable', 'VolumeBinding'],
]);

const addedAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'Exists' }] }],
  },
};

/** Draws one to three profiles: the plugins in another order, some of them without some plugins, with arguments, and with these plugins of others. */
export function drawProfiles(
  draws: Draws,
  others: readonly string[],
  reservations: ProfileConfiguration['reservations'],
): readonly ProfileConfiguration[] {
  return draws.list(draws.int(1, 3), (index): ProfileConfiguration => {
    const isSubset = draws.chance(0.3);
    const names = defaultPlugins
      .map(({ name }) => name)
      .filter((name) => needed.has(name) || !isSubset || draws.chance(0.8));
    const args: Readonly<Record<string, unknown>> = {
      ...(draws.chance(0.1) && { NodeAffinity: { addedAffinity } }),
      ...(draws.chance(0.1) && { NodeResourcesFit: { ignoredResources: ['nvidia.com/gpu'] } }),
      ...(draws.chance(0.1) && { DefaultPreemption: { maxVictims: 1 } }),
    };
    const ordered = draws.chance(0.5) ? draws.shuffle([...names, ...others]) : [...names, ...others];
    return {
      schedulerName: index === 0 ? 'default-scheduler' : `scheduler-${index}`,
      plugins: ordered.map((name) => ({
        name,
        weight: defaultPlugins.find((plugin) => plugin.name === name)?.weight ?? 1,
        ...(name in args && { args: args[name] }),
      })),
      ...(reservations !== undefined && { reservations }),
    };
  });
}
