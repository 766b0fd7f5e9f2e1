/** A node that has refused a pod so often is not asked again while there is another. */
const patience = 2;

/** Which pods could not be bound to which nodes, so that a repair goes elsewhere when a node keeps refusing. */
export class BindRefusals {
  /** uid -> node name -> how often a Binding of the pod to it has failed */
  readonly #counts = new Map<string, Map<string, number>>();

  /** Nothing is to be avoided. */
  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  failed(uid: string, nodeName: string): void {
    let counts = this.#counts.get(uid);
    if (counts === undefined) {
      counts = new Map();
      this.#counts.set(uid, counts);
    }
    counts.set(nodeName, (counts.get(nodeName) ?? 0) + 1);
  }

  /** Names of the nodes that have refused the pod too often. */
  avoidedBy(uid: string): readonly string[] {
    const counts = this.#counts.get(uid) ?? [];
    return [...counts].filter(([, count]) => count >= patience).map(([name]) => name);
  }

  /** The pod is on a node, or gone. */
  forget(uid: string): void {
    this.#counts.delete(uid);
  }
}
