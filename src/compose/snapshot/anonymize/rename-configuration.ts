import type { NodeAffinityRules } from '../../../api/pod.ts';
import type { LabelRenaming } from './rename-labels.ts';
import type { Rename } from './renaming.ts';

interface StoredProfile {
  readonly schedulerName?: string;
  readonly pluginConfig?: readonly { readonly name: string; readonly args?: Readonly<Record<string, unknown>> }[];
  readonly reservations?: { readonly poolLabel?: string };
}

interface ResourceArgument {
  readonly name: string;
}

interface FitArguments {
  readonly ignoredResources?: readonly string[];
  readonly ignoredResourceGroups?: readonly string[];
  readonly scoringStrategy?: { readonly resources?: readonly ResourceArgument[] };
}

/** Renames what the profiles in a snapshot name. `resources`: all resources of the snapshot. */
export function renameConfiguration(
  configuration: object,
  rename: Rename,
  labels: LabelRenaming,
  resources: readonly string[],
): object {
  const { profiles = [], ...rest } = configuration as { readonly profiles?: readonly StoredProfile[] };
  return {
    ...rest,
    profiles: profiles.map(({ schedulerName, pluginConfig = [], reservations, ...profile }) => ({
      ...profile,
      ...(schedulerName !== undefined && { schedulerName: rename('scheduler', schedulerName) }),
      pluginConfig: pluginConfig.map(({ name, args = {} }) => ({
        name,
        args: renameArguments(name, args, rename, labels, resources),
      })),
      ...(reservations !== undefined && {
        reservations: {
          ...reservations,
          ...(reservations.poolLabel !== undefined && { poolLabel: labels.key(reservations.poolLabel) }),
        },
      }),
    })),
  };
}

function renameArguments(
  plugin: string,
  args: Readonly<Record<string, unknown>>,
  rename: Rename,
  labels: LabelRenaming,
  resources: readonly string[],
): object {
  const named = (of: readonly ResourceArgument[]): readonly ResourceArgument[] =>
    of.map((each) => ({ ...each, name: rename('resource', each.name) }));
  switch (plugin) {
    case 'NodeAffinity': {
      const { addedAffinity } = args as { readonly addedAffinity?: NodeAffinityRules };
      return { ...args, ...(addedAffinity && { addedAffinity: labels.nodeAffinity(addedAffinity) }) };
    }
    case 'PodTopologySpread': {
      const { defaultConstraints } = args as {
        readonly defaultConstraints?: readonly { readonly topologyKey: string }[];
      };
      return {
        ...args,
        ...(defaultConstraints && {
          defaultConstraints: defaultConstraints.map((each) => ({
            ...each,
            topologyKey: labels.key(each.topologyKey),
          })),
        }),
      };
    }
    case 'NodeResourcesFit': {
      const { ignoredResources = [], ignoredResourceGroups = [], scoringStrategy } = args as FitArguments;
      const { ignoredResourceGroups: _, ...others } = args as FitArguments & Readonly<Record<string, unknown>>;
      // Without their names, resources have no groups any more.
      const ofGroups = resources.filter(
        (name) => ignoredResourceGroups.includes(name.split('/')[0]!) && name.includes('/'),
      );
      const ignored = [...new Set([...ignoredResources, ...ofGroups])];
      return {
        ...others,
        ...(ignored.length > 0 && { ignoredResources: ignored.map((name) => rename('resource', name)) }),
        ...(scoringStrategy && {
          scoringStrategy: {
            ...scoringStrategy,
            ...(scoringStrategy.resources && { resources: named(scoringStrategy.resources) }),
          },
        }),
      };
    }
    case 'NodeResourcesBalancedAllocation': {
      const { resources: balanced } = args as { readonly resources?: readonly ResourceArgument[] };
      return { ...args, ...(balanced && { resources: named(balanced) }) };
    }
    default:
      return args;
  }
}
