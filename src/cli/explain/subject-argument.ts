import { InvalidArgumentError } from 'commander';
import { isObjectName } from '../../api/object-name.ts';
import type { Subject } from '../../api/explain/basis.ts';

/** What an argument names: `red`, `group/red` or `pod/red-5`. */
export interface SubjectArgument {
  /** Absent: a pod group, or a pod if there is no such group. */
  readonly kind?: Subject['kind'];
  /** Absent: a group of either API. */
  readonly source?: Subject['source'];
  readonly name: string;
}

/** prefix -> kind */
const kinds: Readonly<Record<string, Subject['kind']>> = {
  group: 'PodGroup',
  podgroup: 'PodGroup',
  podgroups: 'PodGroup',
  pg: 'PodGroup',
  pod: 'Pod',
  pods: 'Pod',
  po: 'Pod',
};

const sources = ['scheduling.x-k8s.io', 'scheduling.k8s.io'] as const;

/** Parses the name of a pod group or pod. The argument can be repeated. Throws InvalidArgumentError. */
export function subjectArgument(
  text: string,
  previous: readonly SubjectArgument[] | undefined,
): readonly SubjectArgument[] {
  return [...(previous ?? []), parseSubject(text)];
}

function parseSubject(text: string): SubjectArgument {
  const cut = text.indexOf('/');
  const name = text.slice(cut + 1);
  // As kubectl prints it: podgroup.scheduling.x-k8s.io/red.
  const [prefix = '', ...api] = text.slice(0, Math.max(cut, 0)).toLowerCase().split('.');
  const source = sources.find((each) => each === api.join('.'));
  const kind = Object.hasOwn(kinds, prefix) ? kinds[prefix] : undefined;
  if (!isObjectName(name) || (cut >= 0 && kind === undefined)) {
    throw new InvalidArgumentError('It must be the name of a pod group or pod, such as red, group/red or pod/red-5.');
  }
  return { name, ...(kind !== undefined && { kind }), ...(source !== undefined && { source }) };
}

/** Returns the name as `-o name` prints it. */
export function subjectName({ kind, source, name }: Subject): string {
  return kind === 'Pod' ? `pod/${name}` : `podgroup.${source ?? 'scheduling.x-k8s.io'}/${name}`;
}
