import type { PartError } from '../../../api/explain/basis.ts';
import { groupKeyOf } from '../../../api/group-key.ts';
import { projectNativePodGroup } from '../../../api/native-pod-group.ts';
import type { Pod } from '../../../api/pod.ts';
import { messageOf } from '../../../base/message-of.ts';
import { projectionsFor } from '../../../scheduler/projections.ts';
import type { SchedulerCore } from '../../../scheduler/scheduler-core.ts';
import type { AdmittedObject } from './admission.ts';
import type { PlannedObject } from './planned-object.ts';

/** What was added to a copy of the cluster. */
export interface Added {
  /** In the order of the files. */
  readonly pods: readonly Pod[];
  /** Keys of the PodGroups. */
  readonly groups: readonly string[];
  /** What could not be added, by the titles of the objects. */
  readonly errors: readonly PartError[];
}

/**
 * Adds the objects to a core that has not begun, as if they had been created at this time (milliseconds since the epoch). Leaves out pods whose
 * names exist, pods that name another scheduler, and a PodGroup that exists and has members, together with the pods that name it. A
 * PodGroup that exists without members is replaced.
 */
export function addToCluster(core: SchedulerCore, objects: readonly AdmittedObject[], now: number): Added {
  const project = projectionsFor(core);
  const errors: PartError[] = [];
  const groups: string[] = [];
  const refused = new Set<string>();
  const created = { resourceVersion: '0', creationTimestamp: new Date(now).toISOString() };
  let count = 0;
  // They sort in the order of the files.
  const nextUid = (): string => `planned-${String(count++).padStart(8, '0')}`;
  for (const { planned, object } of objects) {
    if (planned.kind !== 'PodGroup') continue;
    const key = keyOfGroup(planned);
    const known = core.cluster.gang(key);
    const problem = groups.includes(key)
      ? 'the files contain it twice'
      : known?.spec !== undefined && known.members.size > 0
        ? `${planned.name} exists already and has ${known.members.size} members; delete it first or change its name`
        : undefined;
    try {
      if (problem !== undefined) throw new Error(problem);
      const raw = {
        ...object,
        metadata: { ...object.metadata, ...created, name: planned.name, uid: nextUid() },
        status: {},
      };
      const isNative = key.startsWith('scheduling.k8s.io/');
      core.handlers.podGroups.onAdd(
        isNative ? project.nativePodGroup(projectNativePodGroup(raw)) : project.podGroup(raw),
      );
      groups.push(key);
    } catch (error) {
      refused.add(key);
      errors.push({ part: planned.title, message: messageOf(error) });
    }
  }
  const names = new Set([...core.cluster.pods()].map(({ key }) => key));
  const pods: Pod[] = [];
  for (const { planned, pods: sketches } of objects) {
    if (planned.kind === 'PodGroup') continue;
    if (sketches.length === 0) errors.push({ part: planned.title, message: 'it asks for no pods' });
    for (const { metadata, spec } of sketches) {
      const { nodeName: _, ...waiting } = spec;
      const raw = { metadata: { ...newMetadata(metadata), ...created, uid: nextUid() }, spec: waiting };
      try {
        const pod = project.pod(raw);
        const problem = podProblem(pod, planned, names, core);
        if (problem !== undefined) throw new Error(problem);
        if (pod.podGroupKey !== undefined && refused.has(pod.podGroupKey)) continue;
        names.add(pod.key);
        pods.push(pod);
      } catch (error) {
        errors.push({ part: planned.title, message: messageOf(error) });
        break; // the others are like it
      }
    }
  }
  for (const pod of pods) core.handlers.pods.onAdd(pod);
  return { pods, groups, errors };
}

function keyOfGroup({ object, namespace, name }: Pick<PlannedObject, 'object' | 'namespace' | 'name'>): string {
  const isNative = object.apiVersion.startsWith('scheduling.k8s.io/');
  return groupKeyOf(isNative ? 'scheduling.k8s.io' : 'scheduling.x-k8s.io', namespace, name);
}

function podProblem(
  { key, name, schedulerName }: Pod,
  { kind, object }: PlannedObject,
  names: ReadonlySet<string>,
  { profiles }: SchedulerCore,
): string | undefined {
  const hasFixedName = kind === 'StatefulSet' || (kind === 'Pod' && object.metadata.name !== undefined);
  if (hasFixedName && names.has(key)) return `pod ${name} exists already; delete it first or change its name`;
  if (profiles.isOurs(schedulerName)) return undefined;
  const ours = profiles.schedulerNames.join(' or ');
  return `its pods are for the scheduler ${schedulerName}; set spec.schedulerName of the pod to ${ours}`;
}

/** YAML allows `labels:` without a value. The API server ignores the time of a deletion, which is in the file if the pod was copied. */
function newMetadata(metadata: object): object {
  const given = Object.entries(metadata).filter(([field, value]) => value !== null && field !== 'deletionTimestamp');
  return Object.fromEntries(given);
}
