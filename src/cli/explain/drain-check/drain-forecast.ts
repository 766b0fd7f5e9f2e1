import type { Basis, Subject } from '../../../api/explain/basis.ts';
import type { DrainItem, DrainOutcome } from '../../../api/explain/lists.ts';
import type { Node } from '../../../api/node.ts';
import type { Pod } from '../../../api/pod.ts';
import { UserError } from '../../../base/user-error.ts';
import { podSubject, subjectOfGroup } from '../../../scheduler/explain/subjects.ts';
import type { SchedulerCore } from '../../../scheduler/scheduler-core.ts';
import { rehearseWhile } from '../rehearse-while.ts';

/** There is no node of this name. */
export class UnknownNodeError extends UserError {
  override readonly name = 'UnknownNodeError';

  constructor(node: string) {
    super(`there is no node named ${node}; kubectl get nodes lists them`);
  }
}

/** What a drain of nodes would do. */
export interface DrainForecast {
  readonly items: readonly DrainItem[];
  /** Pods that no controller recreates. */
  readonly lost: readonly Subject[];
  /** Number of pods of other schedulers. */
  readonly notJudged: number;
  /** All pods that the drain evicts. */
  readonly displaced: readonly Pod[];
  readonly isComplete: boolean;
}

/**
 * Drains the nodes in a copy of the cluster: cordons them, deletes their pods, adds a replacement for each pod that has a controller, and
 * attempts what then waits in the order of the queue. Begins the core. Leaves pods of DaemonSets, static pods and pods that are being deleted
 * where they are, as kubectl does. Throws UnknownNodeError.
 */
export function forecastDrain(core: SchedulerCore, names: readonly string[], now: number): DrainForecast {
  const { cluster, profiles, handlers } = core;
  const nodes = [...new Set(names)].map((name) => cluster.node(name) ?? unknown(name));
  const displaced = displacedFrom(nodes.flatMap(({ pods }) => [...pods.values()]));
  core.begin();
  const groups = groupsOf(core, displaced);
  const ownNodes = nodes.map(({ node }) => node);
  for (const node of ownNodes) handlers.nodes.onUpdate(node, { ...node, unschedulable: true } satisfies Node);
  for (const pod of displaced) handlers.pods.onDelete(pod, false);
  const after = new Map([...groups.keys()].map((key) => [key, cluster.gang(key)?.counted ?? 0]));
  const replacements = displaced
    .filter(({ controller, schedulerName }) => controller !== undefined && profiles.isOurs(schedulerName))
    .map((pod, index) => replacementOf(pod, index, now));
  for (const pod of replacements) handlers.pods.onAdd(pod);
  const uids = new Set(replacements.map(({ uid }) => uid));
  const isComplete = rehearseWhile(
    core,
    (entity) => (entity.kind === 'pod' ? uids.has(entity.pod.uid) : groups.has(entity.gang.key)),
    () => undefined,
  );
  const items = [...groups].map(([key, here]): DrainItem => {
    const gang = cluster.gang(key)!;
    const assignments = replacements
      .filter(({ podGroupKey }) => podGroupKey === key)
      .map(({ uid, name }) => ({ member: name, node: cluster.pod(uid)?.nodeName ?? '' }))
      .filter(({ node }) => node !== '');
    const minMember = gang.spec!.minMember;
    const facts = { here, fit: assignments.length, after: after.get(key)!, minMember };
    return {
      subject: subjectOfGroup(gang.key, gang.spec?.uid),
      ...facts,
      assignments,
      outcome: outcomeOf(facts, gang.missing === 0),
    };
  });
  return {
    items,
    lost: displaced.filter(({ controller }) => controller === undefined).map(podSubject),
    notJudged: displaced.filter(({ schedulerName }) => !profiles.isOurs(schedulerName)).length,
    displaced,
    isComplete,
  };
}

/** Returns the pods that a drain evicts, of those on the nodes. */
export function displacedFrom(pods: readonly Pod[]): readonly Pod[] {
  return pods.filter(
    ({ deleting, template }) => !deleting && template.isOfDaemonSet !== true && template.isStatic !== true,
  );
}

function unknown(name: string): never {
  throw new UnknownNodeError(name);
}

/** Returns the groups that this scheduler decides and that lose a member: group key -> number of members on the nodes. Sorted by key. */
export function groupsOf({ cluster, profiles }: SchedulerCore, displaced: readonly Pod[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { podGroupKey: key, schedulerName } of displaced) {
    if (key === undefined || !profiles.decidesGangs(schedulerName) || cluster.gang(key)?.spec === undefined) continue;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the pod that the controller creates instead. */
function replacementOf(pod: Pod, index: number, now: number): Pod {
  return {
    ...pod,
    uid: `replacement-${String(index).padStart(8, '0')}`,
    resourceVersion: '0',
    creationTimestamp: now,
    nodeName: '',
    nominatedNodeName: '',
    phase: 'Pending',
    podScheduled: undefined,
    predictedStart: undefined,
    plannedGroupUid: undefined,
    plannedQuorum: undefined,
    startedAt: 0,
    disruptedBy: undefined,
    preemptionMark: undefined,
  };
}

function outcomeOf(
  { here, fit, after, minMember }: Required<Pick<DrainItem, 'here' | 'fit' | 'after' | 'minMember'>>,
  hasQuorum: boolean,
): DrainOutcome {
  if (fit < here) return hasQuorum ? 'shrinks' : 'strands';
  return after >= minMember ? 'safe' : 'interrupts';
}

/** Returns the answer's unknowns if the forecast is not complete. */
export function unknownsOf({ isComplete }: DrainForecast): Basis['unknowns'] {
  return isComplete ? [] : ['workCap'];
}
