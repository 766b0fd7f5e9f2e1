import { compileLabelSelector, SelectorError } from '../../api/label-selector.ts';
import type { LabelPredicate, Labels, LabelSelector } from '../../api/label-selector.ts';
import type { CsiStorageCapacity } from '../../api/csi-storage-capacity.ts';
import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import { noProvisioner } from '../../api/storage-class.ts';
import type { StorageClass, TopologySelectorTerm } from '../../api/storage-class.ts';
import type { ListedObjectsView } from '../../cluster/listed-objects.ts';
import type { NodeView } from '../../cluster/node-info.ts';

/**
 * Whether a volume can be provisioned for a claim so that a node can access it:
 * - `yes`, with the available capacity if the driver publishes it;
 * - `unsupported`: the class has no provisioner, or it does not provision for this node;
 * - `insufficient capacity`: too little capacity;
 * - `error`: cannot be determined.
 */
export type Provisionable =
  | { readonly outcome: 'yes'; readonly capacity: CsiStorageCapacity | undefined }
  | { readonly outcome: 'unsupported' | 'insufficient capacity' }
  | { readonly outcome: 'error'; readonly reason: string };

const yes: Provisionable = { outcome: 'yes', capacity: undefined };
const unsupported: Provisionable = { outcome: 'unsupported' };
const noCapacity: Provisionable = { outcome: 'insufficient capacity' };

/** Finds the nodes for which volumes can be provisioned. */
export class Provisioning {
  readonly #listed: ListedObjectsView;
  /** selector -> compiled selector */
  readonly #selectors = new WeakMap<LabelSelector, LabelPredicate>();

  constructor(listed: ListedObjectsView) {
    this.#listed = listed;
  }

  of(claim: PersistentVolumeClaim, { node }: NodeView): Provisionable {
    const { className, namespace, name } = claim;
    if (className === '') return { outcome: 'error', reason: `no class for claim "${namespace}/${name}"` };
    const storageClass = this.#listed.get('StorageClass', '', className);
    if (storageClass === undefined) {
      return { outcome: 'error', reason: `failed to find storage class ${JSON.stringify(className)}` };
    }
    const { provisioner, allowedTopologies } = storageClass;
    if (provisioner === '' || provisioner === noProvisioner) return unsupported;
    if (!isAllowed(allowedTopologies, node.labels)) return unsupported;
    return this.#capacityFor(claim, storageClass, node.labels);
  }

  /** Returns whether the driver publishes capacity for the claim's volume. */
  publishesCapacityFor({ className, requested }: PersistentVolumeClaim): boolean {
    const storageClass = this.#listed.get('StorageClass', '', className);
    return requested !== undefined && storageClass !== undefined && this.#isPublished(storageClass.provisioner);
  }

  #isPublished(provisioner: string): boolean {
    return this.#listed.get('CSIDriver', '', provisioner)?.publishesCapacity === true;
  }

  #capacityFor(
    { requested }: PersistentVolumeClaim,
    { provisioner, name }: StorageClass,
    labels: Labels,
  ): Provisionable {
    if (requested === undefined || !this.#isPublished(provisioner)) return yes;
    let largestFree: CsiStorageCapacity | undefined;
    for (const capacity of this.#listed.ofGroup('CSIStorageCapacity', name)) {
      const { largestVolume, nodeTopology } = capacity;
      if (largestVolume === undefined || largestVolume < requested) continue;
      if (nodeTopology === undefined || !this.#predicateOf(nodeTopology)(labels)) continue;
      if (largestFree === undefined || isBefore(capacity, largestFree)) largestFree = capacity;
    }
    return largestFree === undefined ? noCapacity : { outcome: 'yes', capacity: largestFree };
  }

  /** Compiles a selector. An invalid one selects no node. */
  #predicateOf(selector: LabelSelector): LabelPredicate {
    let predicate = this.#selectors.get(selector);
    if (predicate === undefined) {
      try {
        predicate = compileLabelSelector(selector);
      } catch (error) {
        if (!(error instanceof SelectorError)) throw error;
        predicate = () => false;
      }
      this.#selectors.set(selector, predicate);
    }
    return predicate;
  }
}

function isBefore(a: CsiStorageCapacity, b: CsiStorageCapacity): boolean {
  if (a.capacity !== b.capacity) return a.capacity > b.capacity;
  return a.namespace === b.namespace ? a.name < b.name : a.namespace < b.namespace;
}

/** Returns whether a term matches; an empty term matches nothing. Without terms every node is allowed. */
function isAllowed(terms: readonly TopologySelectorTerm[], labels: Labels): boolean {
  if (terms.length === 0) return true;
  return terms.some(({ matchLabelExpressions: all = [] }) => {
    return all.length > 0 && all.every(({ key, values }) => values.includes(labels[key] ?? '\u0000'));
  });
}
