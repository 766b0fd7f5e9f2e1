/** Limits and counts the work of one or more searches, so that the same input ends at the same place on any machine. */
export class PackingBudget {
  /** How many more times a search may look whether a class fits on a node. */
  looks = 0;
  /** How many times a search has placed members of one class on a node. */
  placements = 0;

  allow(looks: number): void {
    this.looks = looks;
  }

  get isUsedUp(): boolean {
    return this.looks <= 0;
  }
}
