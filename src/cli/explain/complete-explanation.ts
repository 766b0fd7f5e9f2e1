import type { Basis, PartError, Unknown } from '../../api/explain/basis.ts';
import type { Explanation } from '../../api/explain/explanation.ts';
import type { ExplanationPart } from '../../scheduler/explain/explainer.ts';

/** Adds what is known only of the cluster state: what the explanation rests on, and what could not be listed. */
export function completeExplanation(
  { unknowns, ...part }: ExplanationPart,
  basis: Basis,
  errors: readonly PartError[],
): Explanation {
  return { ...part, basis: withUnknowns(basis, unknowns), errors: [...errors, ...part.errors] };
}

export function withUnknowns(basis: Basis, unknowns: readonly Unknown[]): Basis {
  return { ...basis, unknowns: [...new Set([...basis.unknowns, ...unknowns])].sort() };
}
