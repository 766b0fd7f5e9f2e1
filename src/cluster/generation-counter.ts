/** Counts states of nodes. All lists of nodes of one cluster cache share a counter, so that two different states never have one generation. */
export class GenerationCounter {
  latest = 0;

  next(): number {
    return ++this.latest;
  }
}
