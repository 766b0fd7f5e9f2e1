import type { FunnelRow } from '../../api/explain/explanation.ts';
import type { Pod } from '../../api/pod.ts';
import type { ResourceNames } from '../../api/resource-names.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { Profile } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import type { NodeLook } from './node-looks.ts';
import { decidingKey, rejectionDetails } from './rejection-details.ts';

/** Maximum number of rows; beyond it, rows that differ only in a key or a text become one. */
const maxRows = 40;

interface Group {
  readonly status: Status;
  readonly key: string | undefined;
  readonly rank: number;
  readonly nodes: NodeView[];
}

/**
 * Returns the rows of the funnel: each node is counted once, by the first plugin that rejects it. `removed` of all rows adds up to the number of
 * nodes if all reject the pod.
 */
export function funnelOf(
  looks: readonly NodeLook[],
  pod: Pod,
  profile: Pick<Profile, 'localFilters' | 'otherFilters'>,
  resources: ResourceNames,
): readonly FunnelRow[] {
  const detailed = groupsOf(looks, pod, profile, true);
  const groups = detailed.length > maxRows ? groupsOf(looks, pod, profile, false) : detailed;
  let left = looks.length;
  return groups
    .sort((a, b) => a.rank - b.rank || b.nodes.length - a.nodes.length || (nameOf(a) < nameOf(b) ? -1 : 1))
    .map(({ status, key, nodes }) => {
      left -= nodes.length;
      return { rejections: rejectionDetails(status, pod, nodes, resources, key), removed: nodes.length, left };
    });
}

function groupsOf(
  looks: readonly NodeLook[],
  pod: Pod,
  { localFilters, otherFilters }: Pick<Profile, 'localFilters' | 'otherFilters'>,
  isDetailed: boolean,
): Group[] {
  const rankOf = rankBy(localFilters, otherFilters);
  /** what makes a row -> its nodes */
  const groups = new Map<string, Group>();
  for (const { node, status, isTaken } of looks) {
    if (status === undefined) continue;
    const key = isDetailed ? decidingKey(status, pod, node.node) : undefined;
    const why = isDetailed ? status.message : status.details.map(({ code, resource }) => `${code} ${resource}`).join();
    const id = JSON.stringify([isTaken, status.plugin, why, key]);
    const known = groups.get(id);
    if (known !== undefined) known.nodes.push(node);
    else
      groups.set(id, {
        status: isTaken ? takenBySiblings(status) : status,
        key,
        rank: rankOf(status, isTaken),
        nodes: [node],
      });
  }
  return [...groups.values()];
}

/** The same texts: the verdict counts these nodes as if other pods had taken them. */
function takenBySiblings(status: Status): Status {
  const details = status.details.map((reason) => ({ ...reason, code: 'TakenBySiblings' as const }));
  return new Status(status.code, details, status.plugin);
}

/** Returns a function that returns the place of a rejection in the order in which plugins run. */
function rankBy(
  localFilters: Profile['localFilters'],
  otherFilters: Profile['otherFilters'],
): (status: Status, isTaken: boolean) => number {
  const places = new Map([...localFilters, ...otherFilters].map(({ name }, place) => [name, place]));
  const last = places.size;
  return ({ plugin }, isTaken) => (isTaken ? last + 1 : (places.get(plugin) ?? last));
}

function nameOf({ status, key = '' }: Group): string {
  return `${status.plugin} ${status.message} ${key}`;
}
