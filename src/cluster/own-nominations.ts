/**
 * Which nominations of pods are this scheduler's own. `status.nominatedNodeName` does not say who wrote it, but another component's
 * nomination reserves capacity and must stay, while one of ours means nothing once its reservation has ended.
 */
export class OwnNominations {
  /** uid of an unbound pod -> names of the nodes for which this scheduler has nominated it, now or earlier */
  readonly #nodes = new Map<string, Set<string>>();

  add(uid: string, nodeName: string): void {
    const known = this.#nodes.get(uid);
    if (known === undefined) this.#nodes.set(uid, new Set([nodeName]));
    else known.add(nodeName);
  }

  has(uid: string, nodeName: string): boolean {
    return this.#nodes.get(uid)?.has(nodeName) === true;
  }

  /** The pod is bound or gone. */
  forget(uid: string): void {
    this.#nodes.delete(uid);
  }
}
