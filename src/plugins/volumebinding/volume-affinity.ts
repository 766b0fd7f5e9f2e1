import { migratedAffinity } from '../../api/in-tree-volume.ts';
import { compileNodeSelectorTerm, SelectorError } from '../../api/label-selector.ts';
import type { Labels, NodePredicate } from '../../api/label-selector.ts';
import type { NodeSelectorTerm } from '../../api/node-selector.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ListedObjectsView } from '../../cluster/listed-objects.ts';
import { anyMatches } from '../compile-node-affinity.ts';

/** Whether nodes can reach volumes, as these say. Rules are compiled once for each volume that the API has shown. */
export class VolumeAffinity {
  readonly #listed: ListedObjectsView;
  /** rules -> ready to be asked */
  readonly #compiled = new WeakMap<readonly NodeSelectorTerm[], readonly NodePredicate[]>();
  /** rules of a volume -> those of the driver in whose hands it is */
  readonly #migrated = new WeakMap<PersistentVolume, { readonly terms: readonly NodeSelectorTerm[] | undefined }>();

  constructor(listed: ListedObjectsView) {
    this.#listed = listed;
  }

  /** Its own rules, whatever has taken over from what it names. */
  isReachable({ nodeAffinity }: PersistentVolume, { node }: NodeView): boolean {
    return nodeAffinity === undefined || this.#matches(nodeAffinity, node.labels);
  }

  /**
   * As `isReachable`, for a volume that is bound: on nodes where a CSI driver has taken over from what it names that one's rules hold. A
   * text says why those cannot be told.
   */
  isReachableBound(volume: PersistentVolume, node: NodeView): boolean | string {
    const { inTree } = volume;
    if (inTree?.migrated === undefined || !this.#isMigratedOn(node.name, inTree.plugin)) {
      return this.isReachable(volume, node);
    }
    if ('problem' in inTree.migrated) return `could not translate pv: ${inTree.migrated.problem}`;
    let migrated = this.#migrated.get(volume);
    if (migrated === undefined) {
      migrated = { terms: migratedAffinity(inTree.plugin, volume.nodeAffinity, volume.labels) };
      this.#migrated.set(volume, migrated);
    }
    return migrated.terms === undefined || this.#matches(migrated.terms, node.node.labels);
  }

  #isMigratedOn(nodeName: string, plugin: string): boolean {
    const migrated = this.#listed.get('CSINode', '', nodeName)?.migratedPlugins ?? '';
    return migrated !== '' && migrated.split(',').includes(plugin);
  }

  #matches(terms: readonly NodeSelectorTerm[], labels: Labels): boolean {
    let compiled = this.#compiled.get(terms);
    if (compiled === undefined) {
      compiled = terms.flatMap(compileIfUnderstood);
      this.#compiled.set(terms, compiled);
    }
    return anyMatches(compiled, { name: '', labels });
  }
}

/** One that cannot be understood matches nothing. As in kube-scheduler only labels are looked at: fields do not count. */
function compileIfUnderstood(term: NodeSelectorTerm): readonly NodePredicate[] {
  try {
    const whole = compileNodeSelectorTerm(term);
    const { matchExpressions = [], matchFields = [] } = term;
    if (matchFields.length === 0) return [whole];
    return [matchExpressions.length === 0 ? (): boolean => true : compileNodeSelectorTerm({ matchExpressions })];
  } catch (error) {
    if (error instanceof SelectorError) return [];
    throw error;
  }
}
