import { migratedAffinity } from '../../api/in-tree-volume.ts';
import { compileNodeSelectorTerm, SelectorError } from '../../api/label-selector.ts';
import type { Labels, NodePredicate } from '../../api/label-selector.ts';
import type { NodeSelectorTerm } from '../../api/node-selector.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ListedObjectsView } from '../../cluster/listed-objects.ts';
import { anyMatches } from '../compile-node-affinity.ts';

/** Decides whether nodes can access volumes. Compiles the terms of each volume once. */
export class VolumeAffinity {
  readonly #listed: ListedObjectsView;
  /** terms -> compiled terms */
  readonly #compiled = new WeakMap<readonly NodeSelectorTerm[], readonly NodePredicate[]>();
  /** volume -> node affinity translated for its CSI driver */
  readonly #migrated = new WeakMap<PersistentVolume, { readonly terms: readonly NodeSelectorTerm[] | undefined }>();

  constructor(listed: ListedObjectsView) {
    this.#listed = listed;
  }

  /** Uses the volume's own node affinity, without CSI migration. */
  isReachable({ nodeAffinity }: PersistentVolume, { node }: NodeView): boolean {
    return nodeAffinity === undefined || this.#matches(nodeAffinity, node.labels);
  }

  /**
   * Like `isReachable` for a bound volume: on nodes where its in-tree plugin is migrated, the translated node affinity applies. Returns a
   * text if the translation fails.
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
      compiled = terms.flatMap(compileIfValid);
      this.#compiled.set(terms, compiled);
    }
    return anyMatches(compiled, { name: '', labels });
  }
}

/** Compiles a term. An invalid term matches nothing. As in kube-scheduler, only labels count; fields are ignored. */
function compileIfValid(term: NodeSelectorTerm): readonly NodePredicate[] {
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
