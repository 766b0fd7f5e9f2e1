import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { metadataOf, textsAt } from './access.ts';
import { invalidValue, qualifiedNameProblem } from './field-rules.ts';

/** What of a resource says which finalizers its objects may have. */
interface FinalizedType {
  readonly group: string;
  readonly content: { readonly type: 'model' | 'structural' };
}

/** The names of finalizers that need no domain. */
const standardFinalizers: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** Checks the finalizers of an object of a kind that insists on domains in their names, or of one that does not. */
export function validateFinalizers(metadata: JsonObject, needDomain: boolean): StatusCause[] {
  return textsAt(metadata, 'finalizers').flatMap((finalizer, index) => {
    const causes: StatusCause[] = [];
    const problem = qualifiedNameProblem(finalizer);
    if (problem !== undefined) causes.push(invalidValue('metadata.finalizers', finalizer, problem));
    if (needDomain && !hasDomain(finalizer)) {
      const neither = 'name is neither a standard finalizer name nor is it fully qualified';
      causes.push(invalidValue(`metadata.finalizers[${index}]`, finalizer, neither));
    }
    return causes;
  });
}

/** Kubernetes' own kinds insist on domains; custom resources, and definitions, have always been taken without. */
export function needsFinalizerDomain(type: FinalizedType): boolean {
  return type.content.type === 'model' && type.group !== 'apiextensions.k8s.io';
}

/** What is said of finalizers without a domain that a custom resource gets with a write. */
export function finalizerWarnings(type: FinalizedType, object: JsonObject, previous?: JsonObject): string[] {
  if (type.content.type !== 'structural') return [];
  const before = new Set(previous === undefined ? [] : textsAt(metadataOf(previous), 'finalizers'));
  return textsAt(metadataOf(object), 'finalizers')
    .filter((finalizer) => !before.has(finalizer) && !hasDomain(finalizer))
    .map((finalizer) => {
      const path = finalizer.includes('.') ? ' including a path (/)' : '';
      return `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
    });
}

function hasDomain(finalizer: string): boolean {
  return finalizer.includes('/') || standardFinalizers.has(finalizer);
}
