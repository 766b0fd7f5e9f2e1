import type { JsonObject, JsonValue } from '../json.ts';

/** What tells two elements of a merged list apart: the value under the merge key, or a scalar element itself. */
export function elementKey(element: JsonValue, mergeKey: string | undefined): JsonValue | undefined {
  return mergeKey === undefined ? element : (element as JsonObject)[mergeKey];
}

/**
 * The order of a merged list, kubectl's rule: elements named in `patchOrder` stand in that order, the others in the
 * document's; the two are interleaved so that where both are known to the document, its order decides. An element that
 * is new to the document therefore goes before all of the document's elements that are left at that point.
 */
export function orderElements(
  merged: readonly JsonValue[],
  patchOrder: readonly JsonValue[],
  documentOrder: readonly JsonValue[],
  mergeKey: string | undefined,
): JsonValue[] {
  const patchRank = ranks(patchOrder, mergeKey);
  const documentRank = ranks(documentOrder, mergeKey);
  const rankOf = (rank: ReadonlyMap<JsonValue | undefined, number>, element: JsonValue): number =>
    rank.get(elementKey(element, mergeKey)) ?? -1;
  const byRank = (rank: ReadonlyMap<JsonValue | undefined, number>, elements: JsonValue[]): JsonValue[] =>
    elements.sort((left, right) => rankOf(rank, left) - rankOf(rank, right));
  const patched = byRank(
    patchRank,
    merged.filter((element) => rankOf(patchRank, element) >= 0),
  );
  const others = byRank(
    documentRank,
    merged.filter((element) => rankOf(patchRank, element) < 0),
  );
  const ordered: JsonValue[] = [];
  let next = 0;
  for (const element of patched) {
    const rank = rankOf(documentRank, element);
    while (rank >= 0 && next < others.length) {
      const otherRank = rankOf(documentRank, others[next]!);
      if (otherRank < 0 || otherRank >= rank) break;
      ordered.push(others[next++]!);
    }
    ordered.push(element);
  }
  return [...ordered, ...others.slice(next)];
}

/** Element key -> place of its first appearance. */
function ranks(
  elements: readonly JsonValue[],
  mergeKey: string | undefined,
): ReadonlyMap<JsonValue | undefined, number> {
  const found = new Map<JsonValue | undefined, number>();
  for (const [index, element] of elements.entries()) {
    const key = elementKey(element, mergeKey);
    if (!found.has(key)) found.set(key, index);
  }
  return found;
}
