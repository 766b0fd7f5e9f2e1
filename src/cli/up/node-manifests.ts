import type { SimulatedNodeSpec } from '../../plane/nodes/node-object.ts';
import { isObject } from '../manifests/is-object.ts';
import { ManifestError, manifestTitle } from '../manifests/manifest.ts';
import type { Manifest } from '../manifests/manifest.ts';

export interface SplitManifests {
  /** Manifests of Nodes. The control plane simulates the nodes once they are applied. */
  readonly nodes: readonly Manifest[];
  /** All other manifests, in their original order. */
  readonly others: readonly Manifest[];
}

/**
 * Separates the Nodes from the other manifests. A Node's resources come from `status.allocatable`, or else `status.capacity`;
 * `defaults` (resource name -> quantity) supplies the missing ones. The API server validates the Nodes when they are applied.
 * Throws ManifestError for two Nodes with the same name: the server would keep the status of the first.
 */
export function takeNodes(
  manifests: readonly Manifest[],
  defaults: Readonly<Record<string, string | number>>,
): SplitManifests {
  const isNode = ({ object }: Manifest): boolean => object.apiVersion === 'v1' && object.kind === 'Node';
  const nodes = manifests.filter(isNode);
  rejectSharedNames(nodes);
  return {
    nodes: nodes.map((manifest) => completed(manifest, defaults)),
    others: manifests.filter((manifest) => !isNode(manifest)),
  };
}

/** Returns names and allocatable resources of the Nodes that `takeNodes` returned. */
export function specsOf(nodes: readonly Manifest[]): readonly SimulatedNodeSpec[] {
  return nodes.map(({ object }) => {
    const { status } = object as { readonly status?: { readonly allocatable?: SimulatedNodeSpec['allocatable'] } };
    return { name: object.metadata.name ?? '', allocatable: status?.allocatable ?? {} };
  });
}

function rejectSharedNames(nodes: readonly Manifest[]): void {
  const first = new Map<string, Manifest>();
  const problems: string[] = [];
  for (const node of nodes) {
    const { name } = node.object.metadata;
    if (name === undefined) continue;
    const other = first.get(name);
    if (other === undefined) {
      first.set(name, node);
      continue;
    }
    const [line, otherLine] = [node, other].map(({ lineOf }) => lineOf('metadata.name'));
    problems.push(
      `${node.where}, line ${line}: ${manifestTitle(node.object)}: metadata.name: already used by the Node in ${other.where}, line ${otherLine}. Rename or remove one of the two`,
    );
  }
  if (problems.length > 0) throw new ManifestError(problems);
}

function completed(manifest: Manifest, defaults: Readonly<Record<string, string | number>>): Manifest {
  const { status = {} } = manifest.object as { readonly status?: unknown };
  if (!isObject(status)) return manifest;
  const own = status.allocatable ?? status.capacity ?? {};
  if (!isObject(own)) return manifest;
  const amounts = Object.entries({ ...defaults, ...own }).map(([name, amount]) => [name, String(amount)] as const);
  return {
    ...manifest,
    object: {
      ...manifest.object,
      status: { ...status, allocatable: Object.fromEntries(amounts) },
    },
  };
}
