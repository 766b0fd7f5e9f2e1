import type { Assignment, Basis, PartError, Subject } from '../../../api/explain/basis.ts';
import type { Explanation } from '../../../api/explain/explanation.ts';
import type { PlanItem } from '../../../api/explain/lists.ts';
import type { Pod } from '../../../api/pod.ts';
import type { GangView } from '../../../cluster/gang-view.ts';
import type { SchedulingEntity } from '../../../framework/scheduling-entity.ts';
import type { Rehearsed } from '../../../scheduler/cycle/cycle-result.ts';
import { podSubject, subjectOfGroup } from '../../../scheduler/explain/subjects.ts';
import type { SchedulerCore } from '../../../scheduler/scheduler-core.ts';
import { completeExplanation, withUnknowns } from '../complete-explanation.ts';
import { rehearseWhile } from '../rehearse-while.ts';
import type { Added } from './add-to-cluster.ts';

/** What is known of a group or a pod so far. */
interface Findings {
  readonly assignments: Assignment[];
  /** Those of a plan that is not whole. */
  partial?: readonly Assignment[];
  victims?: readonly Subject[];
  explanation?: Explanation;
}

/**
 * Plans what was added, in the order of the queue, on one copy of the cluster: entities that come first are planned first, and what fits counts
 * as bound for those that follow. Begins the core. Returns one item per group and per pod without a group, in the order of the files.
 */
export function planAdded(
  core: SchedulerCore,
  { pods, groups }: Pick<Added, 'pods' | 'groups'>,
  basis: Basis,
  errors: readonly PartError[] = [],
): { readonly items: readonly PlanItem[]; readonly basis: Basis } {
  core.begin();
  const isOfGroup = ({ podGroupKey, schedulerName }: Pod): boolean =>
    podGroupKey !== undefined && core.profiles.decidesGangs(schedulerName);
  const keyOf = (pod: Pod): string => (isOfGroup(pod) ? `gang/${pod.podGroupKey!}` : `pod/${pod.uid}`);
  /** item key -> pods that were added */
  const members = new Map<string, Pod[]>(groups.map((key) => [`gang/${key}`, []]));
  for (const pod of pods) {
    const own = members.get(keyOf(pod));
    if (own === undefined) members.set(keyOf(pod), [pod]);
    else own.push(pod);
  }
  const findings = new Map<string, Findings>([...members.keys()].map((key) => [key, { assignments: [] }]));
  const startedBefore = new Set([...core.cluster.gangs()].filter(({ started }) => started).map(({ key }) => key));
  /** Such a group would start, or run, without what was added. */
  const startsSingly = ({ key, spec }: GangView): boolean => spec?.minMember === 0 || startedBefore.has(key);
  const itemOf = (entity: SchedulingEntity): string =>
    entity.kind === 'gang' ? `gang/${entity.gang.key}` : keyOf(entity.pod);
  /** Explanations of single pods, which are often alike: template -> the first one. */
  const explained = new Map<Pod['template'], Explanation>();

  const explain = (key: string, pod: Pod | undefined): Explanation | undefined => {
    const known = pod && explained.get(pod.template);
    if (known !== undefined) return { ...known, subject: podSubject(pod!) };
    const { kind, source, namespace, name } = subjectOfItem(key, pod);
    const part = core.explainNow({ kind, source, namespace, name });
    const explanation = part && completeExplanation(part, basis, errors);
    if (pod !== undefined && explanation !== undefined) explained.set(pod.template, explanation);
    return explanation;
  };

  const see = ({ schedulingEntity, result }: Rehearsed): void => {
    const key = itemOf(schedulingEntity);
    const found = findings.get(key);
    if (found === undefined) return;
    if (result.kind === 'planned') {
      for (const { pod, nodeName } of result.plan.assignments)
        found.assignments.push({ member: pod.name, node: nodeName });
    } else if (result.kind !== 'settled' && result.kind !== 'notReady') {
      found.explanation = explain(
        key,
        schedulingEntity.kind === 'pod' && !isOfGroup(schedulingEntity.pod) ? schedulingEntity.pod : undefined,
      )!;
      found.partial = core
        .dryRun(schedulingEntity)
        .plan.map(({ pod, nodeName }) => ({ member: pod.name, node: nodeName }));
      const preemption = result.kind === 'rejected' ? result.preemption : undefined;
      if ((preemption?.nominations.length ?? 0) > 0)
        found.victims = [...preemption!.victims, ...preemption!.awaited].map(podSubject);
    }
  };

  const isOfInterest = (entity: SchedulingEntity): boolean => findings.has(itemOf(entity));
  const isComplete = rehearseWhile(core, isOfInterest, see);
  const items = [...members].map(([key, own]): PlanItem => {
    const found = findings.get(key)!;
    const isGang = key.startsWith('gang/');
    const gang = isGang ? core.cluster.gang(key.slice('gang/'.length)) : undefined;
    const placed = own.filter(({ uid }) => core.cluster.pod(uid)?.nodeName !== '').length;
    const arePlaced = placed === own.length;
    const fits = isGang ? gang !== undefined && hasQuorum(gang) && (arePlaced || !startsSingly(gang)) : arePlaced;
    const pod = isGang ? undefined : own[0]!;
    const explanation = fits ? undefined : (found.explanation ?? explain(key, pod));
    const size = isGang ? (gang?.members.size ?? own.length) : 1;
    return {
      subject: subjectOfItem(key, pod),
      members: size,
      minMember: isGang ? (gang?.spec?.minMember ?? 0) : 1,
      fits,
      assignments: fits ? found.assignments : [...found.assignments, ...(found.partial ?? [])],
      ...(!fits && found.victims !== undefined && { victims: found.victims }),
      ...(explanation !== undefined && { explanation }),
    };
  });
  return { items, basis: isComplete ? basis : withUnknowns(basis, ['workCap']) };
}

function hasQuorum({ spec, missing }: GangView): boolean {
  return spec !== undefined && missing === 0;
}

/** Objects that exist only in the plan have no uid. */
function subjectOfItem(key: string, pod: Pod | undefined): Subject {
  const { uid: _, ...subject } =
    pod === undefined ? { ...subjectOfGroup(key.slice('gang/'.length)), uid: '' } : podSubject(pod);
  return subject;
}
