import type { Committed } from '../world/record.ts';
import type { Checker, Evidence } from './evidence.ts';
import { groupNamed, groupsIn, podsIn, tallyOf } from './plain-group.ts';
import { groupNameIn, plainGroup, plainPod } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';

const native = 'podgroups.scheduling.k8s.io';
const conditionType = 'PodGroupInitiallyScheduled';
/** Longest time from the moment the controller has received a change of a member until its status patch is stored. */
const patchMs = 5_000;

/**
 * PodGroups of Kubernetes itself: the controller writes nothing but the condition PodGroupInitiallyScheduled, only of groups that had their
 * quorum bound and whose pods name our schedulers, and never takes it back. It writes the condition of each group that has its quorum bound
 * once the cluster has settled.
 */
export class NativeConditionChecker implements Checker {
  readonly #evidence: Evidence;
  readonly #schedulerNames: readonly string[];
  readonly #hasController: boolean;
  /** uids of groups that have ever had their quorum bound, or a member if they have none */
  readonly #everStarted = new Set<string>();
  /** name of a group -> when one of its members changed last */
  readonly #changedAt = new Map<string, number>();

  constructor(
    evidence: Evidence,
    options: { readonly schedulerNames: readonly string[]; readonly hasController: boolean },
  ) {
    this.#evidence = evidence;
    this.#schedulerNames = options.schedulerNames;
    this.#hasController = options.hasController;
  }

  committed(change: Committed): void {
    const { record } = this.#evidence;
    if (change.resource === native) this.#groupChanged(change);
    if (change.resource !== 'pods') return;
    const pod = plainPod(change.object);
    for (const name of [pod.group, pod.otherGroup]) {
      const group = name === undefined ? undefined : groupNamed(record, name);
      if (group?.isNative !== true) continue;
      this.#changedAt.set(group.name, change.at);
      this.#noteStart(group);
    }
  }

  #noteStart(group: PlainGroup): void {
    if (this.#everStarted.has(group.uid)) return;
    const pods = podsIn(this.#evidence.record);
    const { bound, succeeded, isWhole } = tallyOf(group, pods);
    // A pod that its label puts in another group may be in a basic group, too.
    const isOther = ({ otherGroup, node }: PlainPod): boolean => otherGroup === group.name && node !== '';
    const hasStarted = group.minMember === 0 && pods.some(isOther);
    if (hasStarted || (isWhole && bound.length + succeeded > 0)) this.#everStarted.add(group.uid);
  }

  settled(): number | undefined {
    const { record, lagMs, now } = this.#evidence;
    if (!this.#hasController) return undefined;
    const pods = podsIn(record);
    let again: number | undefined;
    for (const group of groupsIn(record)) {
      if (!group.isNative || conditionOf(group)?.status === 'True' || this.#hasForeign(group.name, -Infinity)) continue;
      if (pods.some(({ otherGroup }) => otherGroup === group.name)) continue;
      const { bound } = tallyOf(group, pods);
      if (bound.length === 0 || bound.length < group.minMember) continue;
      const due = (this.#changedAt.get(group.name) ?? 0) + lagMs() + patchMs;
      if (due > now()) again = Math.max(again ?? 0, due);
      else
        this.#evidence.violated(
          'status',
          `group ${group.name} has its quorum bound, and no condition ${conditionType}`,
        );
    }
    return again;
  }

  #groupChanged({ type, object, previous, by, at }: Committed): void {
    if (type !== 'MODIFIED' || by === 'world') return;
    const group = plainGroup(object);
    if (restOf(object) !== restOf(previous))
      this.#violated(`${by} changes more of group ${group.name} than its condition`);
    const condition = conditionOf(group);
    const before = conditionOf(plainGroup(previous!));
    if (before?.status === 'True' && JSON.stringify(condition) !== JSON.stringify(before))
      this.#violated(`${by} takes back the condition of group ${group.name}, or changes it`);
    if (condition?.status !== 'True' || before?.status === 'True') return;
    this.#noteStart(group);
    if (!this.#everStarted.has(group.uid))
      this.#violated(`${by} notes that group ${group.name} was scheduled, which it never was`);
    if (this.#hasForeign(group.name, at - this.#evidence.lagMs()))
      this.#violated(`${by} writes the condition of group ${group.name}, of which another scheduler schedules members`);
  }

  /** Reports whether a pod that another scheduler schedules names the group, and did at that time. */
  #hasForeign(name: string, since: number): boolean {
    const { record } = this.#evidence;
    const isForeign = (pod: PlainPod, object: any): boolean =>
      !this.#schedulerNames.includes(pod.schedulerName) &&
      groupNameIn(object.metadata.namespace, object.spec.schedulingGroup?.podGroupName, true) === name;
    return [...record.all('pods')].some((object: any) => {
      const createdAt =
        record.changes.find(({ uid, type }) => type === 'ADDED' && uid === object.metadata.uid)?.at ?? 0;
      return isForeign(plainPod(object), object) && (since === -Infinity || createdAt < since);
    });
  }

  #violated(what: string): void {
    this.#evidence.violated('status', what);
  }
}

function conditionOf({ status }: { readonly status: any }): { readonly status: string } | undefined {
  return status.conditions?.find(({ type }: any) => type === conditionType);
}

/** Returns all of a group but what the controller may write, and what the API server writes. */
function restOf({ metadata, status = {}, ...rest }: any): string {
  const { resourceVersion: _, managedFields: _fields, ...ofObject } = metadata;
  const { conditions = [], ...ofStatus } = status;
  const others = conditions.filter(({ type }: any) => type !== conditionType);
  return JSON.stringify([ofObject, rest, ofStatus, others]);
}
