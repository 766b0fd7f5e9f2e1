import type { Subject } from '../../api/explain/basis.ts';
import type { SubjectArgument } from '../explain/subject-argument.ts';

/** What the user wants to see of a timeline. */
export interface Selection {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** Empty: all. */
  readonly subjects: readonly SubjectArgument[];
}

export function isSelected(subject: Subject, { namespace, subjects }: Selection): boolean {
  if (namespace !== undefined && subject.namespace !== namespace) return false;
  return subjects.length === 0 || subjects.some((argument) => isNamed(subject, argument));
}

/** Returns the arguments that name nothing among the subjects. */
export function missingFrom(
  subjects: readonly Subject[],
  { namespace, subjects: named }: Selection,
): readonly string[] {
  const known = subjects.filter((subject) => isSelected(subject, { namespace, subjects: [] }));
  return named.filter((argument) => !known.some((subject) => isNamed(subject, argument))).map(({ name }) => name);
}

function isNamed({ kind, source, name }: Subject, argument: SubjectArgument): boolean {
  return (
    name === argument.name &&
    (argument.kind === undefined || argument.kind === kind) &&
    (argument.source === undefined || argument.source === source)
  );
}
