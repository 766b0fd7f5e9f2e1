import { podKeyIn } from '../world/call.ts';
import type { Call } from '../world/call.ts';
import type { Committed } from '../world/record.ts';
import type { Obstacles } from './capacity-of-others.ts';
import type { Checker, Evidence } from './evidence.ts';
import { PlainCapacity } from './plain-fit.ts';
import {
  claimsIn,
  closed,
  groupNamed,
  nameSeveralSchedulers,
  isStartNoted,
  notedStart,
  podsIn,
  takenCapacity,
  tallyOf,
  usableNodes,
  whyHeldBack,
} from './plain-group.ts';
import { barredFor, barredNodes, pastOf, reservedCapacity } from './plain-losses.ts';
import { groupNameIn, groupObjectOf, isMarked, isOnNode, isOpen, plainPod } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';
import { mayBlock, respectedTurns } from './plain-turns.ts';
import { readMark } from './preemption-record.ts';
import { ReceivedStarts } from './received-starts.ts';

/** Bindings of a pod to a node that did not succeed. */
interface FailedBindings {
  readonly times: number;
  /** When the latest one was sent. */
  readonly latestAt: number;
}

/** Taints of a node that does not run pods. */
const lostTaints = [
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/out-of-service',
];
/** A group that was released less than this ago is being released. */
const lateMs = 10_000;
/** Minimum time for which the scheduler waits for terminating pods after the grace period. */
const terminationMs = 60_000;
/** After this many failed Bindings to a node, the scheduler may not count on that node for the pod. */
const avoidedAfter = 2;
/** Maximum time for which the scheduler reserves capacity for a member that could not be bound. */
const failedBindingMs = 30_000;
/** Maximum time from the first mark of a preemption until its nominations are sent. */
const nominatesWithinMs = 12_000;
/** Maximum time from when the API server serves PodGroups of Kubernetes again until the scheduler reads them: its back-off, and the calls. */
const rediscoveredMs = 45_000;
/** Minimum time that the controller needs to read a group and to record that its quorum is bound. */
const brieflyMs = 500;

/**
 * I2, when a scheduler sends the first eviction of a member, by the versions that had reached it. The group never started, its policy allows
 * the eviction, a controller recreates the pod, and no other group is being released. The missing members do not fit, not even once
 * terminating pods are gone. By the store, the group has been partially bound for at least its grace period. Not checked: whether the missing
 * members fit while a bound member is on a node that is gone or closed, while capacity may be reserved for others, or if only some
 * arrangement of them fits. Capacity for an entity with a predicted start that is ahead of the group is wherever that entity fits.
 */
export class ReleaseChecker implements Checker {
  readonly #evidence: Evidence;
  /** group name -> when a scheduler last evicted a member of it */
  readonly #releasedAt = new Map<string, number>();
  /** uid of a group -> first time it had a bound member, since it last had none */
  readonly #onNodesSince = new Map<string, number>();
  /** uid of a group -> since when its quorum is bound */
  readonly #wholeSince = new Map<string, number>();
  /** uid of a group -> last time at which its quorum was bound */
  readonly #wholeUntil = new Map<string, number>();
  /** controller -> when it first wrote the Lease; without an election there is no Lease */
  readonly #ledFrom = new Map<Call['process'], number>();
  /** uid of a group -> longest time for which its quorum was bound */
  readonly #wholeMs = new Map<string, number>();
  /** uid of a group -> version of the pods at which its quorum was first bound in its present life */
  readonly #startedIn = new Map<string, number>();
  readonly #starts: ReceivedStarts;
  /** namespace/name of a pod -> uid of its group, as known to the process that sent the first eviction */
  readonly #evictedFrom = new Map<string, string | undefined>();
  /** process and path of evictions that were sent before */
  readonly #sent = new Set<string>();
  /** group name -> the last call that writes its status */
  readonly #statusCalls = new Map<string, Call>();
  /** uid of a pod -> node -> the Bindings that did not succeed */
  readonly #failedOn = new Map<string, Map<string, FailedBindings>>();
  /** namespace/name of a pod -> the node that the latest call nominates it for; empty: none */
  readonly #nominatedBy = new Map<string, string>();
  /** process and namespace/name of a pod or group for which it preempts -> when it sent the latest mark; none once it has sent a nomination */
  readonly #notNominated = new Map<string, number>();
  readonly #forbiddenNode: string | undefined;
  readonly #refused: readonly string[];
  readonly #areZonesPools: boolean;
  readonly #wereNativeGroupsHidden: (from: number, to: number) => boolean;
  readonly #isUnclear: string | undefined;
  readonly #areClocksWrong: () => boolean;

  /**
   * `isUnclear`: why the checker cannot tell on which nodes the scheduler may count when it decides. `areClocksWrong`: returns whether a new leader
   * may be wrong about how long a group has been partially bound.
   */
  constructor(
    evidence: Evidence,
    { forbiddenNode, refused = [], areZonesPools = false, wereNativeGroupsHidden }: Obstacles = {},
    isUnclear?: string,
    areClocksWrong: () => boolean = () => false,
  ) {
    this.#evidence = evidence;
    this.#starts = new ReceivedStarts(evidence.record);
    this.#forbiddenNode = forbiddenNode;
    this.#refused = refused;
    this.#areZonesPools = areZonesPools;
    this.#wereNativeGroupsHidden = wereNativeGroupsHidden ?? ((): boolean => false);
    this.#isUnclear = isUnclear;
    this.#areClocksWrong = areClocksWrong;
  }

  sent(call: Call): void {
    const { process, of, request, begun, views } = call;
    this.#starts.sent(call);
    if (of === 'lease' && process.role === 'controller' && request.method === 'PUT' && !this.#ledFrom.has(process)) {
      this.#ledFrom.set(process, this.#evidence.now());
    }
    if (of === 'bind') {
      const { metadata, target } = JSON.parse(String(request.body));
      const failed = this.#failedOn.get(metadata.uid) ?? new Map<string, FailedBindings>();
      const times = (failed.get(target.name)?.times ?? 0) + 1;
      this.#failedOn.set(metadata.uid, failed.set(target.name, { times, latestAt: this.#evidence.now() }));
    }
    if (of === 'verdict') {
      const { nominatedNodeName } = JSON.parse(String(request.body)).status;
      const name = podKeyIn(request.path);
      if (nominatedNodeName !== undefined) this.#nominatedBy.set(name, nominatedNodeName ?? '');
      if (nominatedNodeName) {
        this.#notNominated.delete(`${process.name} ${name}`);
        this.#notNominated.delete(`${process.name} ${this.#groupOf(name)}`);
      }
    }
    if (of === 'mark') {
      const mark = readMark(call, this.#evidence.record);
      if (mark.isTrue && mark.for !== undefined)
        this.#notNominated.set(`${process.name} ${mark.for}`, this.#evidence.now());
    }
    if (of === 'status') this.#statusCalls.set(groupIn(request.path), call);
    // Preemption deletes pods; a release evicts them. The sender decides once, and repeats a call that fails.
    if (of !== 'evict' || process.role !== 'scheduler' || request.method === 'DELETE') return;
    const what = `${process.name} ${request.path}`;
    if (this.#sent.has(what)) return;
    this.#sent.add(what);
    const name = podKeyIn(request.path);
    const known = this.#evidence.record.get('pods', name, begun.seen.pods);
    const groupName = known && plainPod(known).group;
    this.#evictedFrom.set(
      name,
      groupName === undefined ? undefined : groupNamed(this.#evidence.record, groupName, begun.seen)?.uid,
    );
    const problems = [begun.seen, ...views].map((view) => this.#problem(process, name, view));
    if (problems.includes(undefined)) return;
    const { record } = this.#evidence;
    const object = record.get('pods', name, views[0]!.pods);
    const group = object && plainPod(object).group;
    this.#evidence.violated('I2', `${process.name} evicts ${name} of group ${group}, ${problems[0]}`);
  }

  done({ of, status, request }: Call): void {
    if (of !== 'bind' || status! >= 300) return;
    const { metadata, target } = JSON.parse(String(request.body));
    this.#failedOn.get(metadata.uid)?.delete(target.name);
  }

  committed({ resource, by, object, previous, version }: Committed): void {
    if (resource !== 'pods') return;
    const pod = plainPod(object);
    const group = pod.group === undefined ? undefined : groupNamed(this.#evidence.record, pod.group);
    if (group === undefined) return;
    const isAsked = previous !== undefined && pod.isLeaving && !plainPod(previous).isLeaving && !isMarked(pod);
    const now = this.#evidence.now();
    if (isAsked && by.startsWith('scheduler')) {
      // The sender may not know yet that the group was created again.
      const since = this.#onNodesSince.get(this.#evictedFrom.get(pod.key) ?? group.uid) ?? now;
      // Condition times have a resolution of one second.
      const isEarly = now - since < group.graceMs - 1_000 && !this.#areClocksWrong();
      if (isEarly && !this.#wasReleasedLately(group.name))
        this.#evidence.violated(
          'I2',
          `${by} evicted ${pod.name} of group ${group.name}, before its grace period had ended`,
        );
      this.#releasedAt.set(group.name, now);
    }
    const { bound, isWhole } = tallyOf(group, podsIn(this.#evidence.record));
    note(this.#onNodesSince, group.uid, bound.length > 0, now);
    const wholeMs = now - (this.#wholeSince.get(group.uid) ?? now);
    this.#wholeMs.set(group.uid, Math.max(this.#wholeMs.get(group.uid) ?? 0, wholeMs));
    if (this.#wholeSince.has(group.uid)) this.#wholeUntil.set(group.uid, now);
    note(this.#wholeSince, group.uid, isWhole, now);
    if (!this.#evidence.started.has(group.uid)) this.#startedIn.delete(group.uid);
    else if (!this.#startedIn.has(group.uid)) this.#startedIn.set(group.uid, version);
  }

  /** Returns what is wrong with the eviction of a pod by one view of the store; undefined: nothing. */
  #problem(sender: Call['process'], name: string, view: Call['seen']): string | undefined {
    const { record, started } = this.#evidence;
    const object = record.get('pods', name, view.pods);
    const pod = object && plainPod(object);
    if (pod === undefined) return 'which it had seen is gone';
    const group = pod.group === undefined ? undefined : groupNamed(record, pod.group, view);
    if (group === undefined) return 'whose group does not exist';
    if (!pod.isControlled) return 'which no controller recreates';
    if (!group.releases) return 'whose policy is KeepTrying';
    if (started.has(group.uid) && (this.#startedIn.get(group.uid) ?? Infinity) <= view.pods) {
      const excuse = this.#whyUnnoted(sender, group, view);
      if (excuse === undefined) return 'which has started';
      this.#evidence.excused(`a group is released: ${excuse} before any process recorded that the group started`);
      return undefined;
    }
    const pods = podsIn(record, view);
    const other = pods.find((each) => {
      const isOther = each.group !== undefined && each.group !== group.name && this.#wasReleasedLately(each.group);
      return isOther && each.isLeaving && isOnNode(each) && isAlive(record.get('nodes', `/${each.node}`, view.nodes));
    });
    if (other !== undefined) return `while group ${other.group} is being released`;
    return this.#mayBeCompleted(sender, group, pods, view) ? 'although its missing members fit' : undefined;
  }

  #mayBeCompleted(sender: Call['process'], group: PlainGroup, pods: readonly PlainPod[], view: Call['seen']): boolean {
    const { record, started, now, seenBy } = this.#evidence;
    const { bound, open } = tallyOf(group, pods);
    const missing = group.minMember - bound.length;
    if (missing <= 0 || open.length < missing || nameSeveralSchedulers(open)) return false;
    if (whyHeldBack(record, group, pods, view) !== undefined) return false;
    if (group.isNative && this.#wereNativeGroupsHidden(now() - rediscoveredMs, now())) {
      this.#evidence.excused('a release: the scheduler could not read the PodGroup');
      return false;
    }
    if (this.#isUnclear !== undefined) {
      this.#evidence.excused(`a release: ${this.#isUnclear}`);
      return false;
    }
    const nodes = usableNodes(record, this.#forbiddenNode, view);
    const isLost = (name: string): boolean => nodes.find((node) => node.name === name)?.isClosed !== false;
    if (bound.some(({ node }) => isLost(node))) return false;
    const past = { ...pastOf(this.#evidence), seenBy: Math.max(now(), seenBy()) };
    if (reservedCapacity(record, started, past).some((kept) => kept.group !== group.name)) return false;
    const avoided = [...barredFor(barredNodes(record, past), open)];
    for (const { uid } of open) {
      for (const [node, { times }] of this.#failedOn.get(uid) ?? []) if (times >= avoidedAfter) avoided.push(node);
    }
    const since = this.#onNodesSince.get(group.uid) ?? now();
    const waits = now() - since - group.graceMs < Math.max(group.graceMs, terminationMs) - 1_000;
    const staying = pods.filter((pod) => !open.includes(pod) && !(waits && pod.isLeaving && !isLost(pod.node)));
    const taken = [...takenCapacity(this.#asNominated(staying)), ...this.#keptForFailedBindings(group, pods)];
    const surroundings = { claims: claimsIn(record), refused: this.#refused };
    const fitsBeside = (placed: readonly (readonly [PlainPod, string])[]): boolean =>
      new PlainCapacity(closed(nodes, avoided), [...taken, ...placed], surroundings).isFound(open, missing) === true;
    if (!fitsBeside([])) return false;
    const turns = respectedTurns(this.#evidence, open, pods);
    const where = {
      nodes: usableNodes(record, undefined, view),
      pods,
      surroundings,
      areZonesPools: this.#areZonesPools,
    };
    if (turns.length > 0 && mayBlock(turns, where, (placed) => !fitsBeside(placed))) {
      this.#evidence.excused('a release: capacity is reserved for an entity ahead of it');
      return false;
    }
    if (!this.#hasNewPreemption(sender)) return true;
    this.#evidence.excused('a release: a preemption has reserved capacity, and its nominations were not sent yet');
    return false;
  }

  /** Returns whether the process has begun a preemption of which it has not sent the nominations. It knows them already. */
  #hasNewPreemption({ name }: Call['process']): boolean {
    return [...this.#notNominated].some(
      ([key, at]) => key.startsWith(`${name} `) && this.#evidence.now() - at < nominatesWithinMs,
    );
  }

  /** Returns the group of a pod as the scheduler names it in marks. */
  #groupOf(podKey: string): string {
    const object = this.#evidence.record.get('pods', podKey);
    const group = object && plainPod(object).group;
    if (group === undefined) return '';
    const { resource, key } = groupObjectOf(group);
    return resource === 'nativepodgroups' ? `scheduling.k8s.io/${key}` : key;
  }

  /** Returns the pods with the nominations that schedulers have sent. A scheduler knows its own before its watch shows them. */
  #asNominated(pods: readonly PlainPod[]): readonly PlainPod[] {
    return pods.map((pod) => {
      const nominatedNode = this.#nominatedBy.get(pod.key) ?? '';
      return isOpen(pod) && pod.nominatedNode === '' && nominatedNode !== '' ? { ...pod, nominatedNode } : pod;
    });
  }

  /**
   * Returns the members of other groups that could not be bound lately, each with the node on which its capacity may be reserved. If another
   * scheduler takes some of it, the rest may be too little for any of the groups. One is then released for the others.
   */
  #keptForFailedBindings(group: PlainGroup, pods: readonly PlainPod[]): (readonly [PlainPod, string])[] {
    const { started, now, promptFrom } = this.#evidence;
    return pods.flatMap((pod) => {
      const failed = this.#failedOn.get(pod.uid);
      const other = pod.group === undefined ? undefined : groupNamed(this.#evidence.record, pod.group);
      if (failed === undefined || !isOpen(pod) || other === undefined || other.uid === group.uid) return [];
      // It may have no bound member: perhaps a Binding was sent, and the outcome is not known yet.
      if (started.has(other.uid)) return [];
      return [...failed].flatMap(([node, { latestAt }]) =>
        now() < Math.max(latestAt, promptFrom()) + failedBindingMs ? [[pod, node] as const] : [],
      );
    });
  }

  /** Returns why the sender cannot know that the group has started; undefined: it knows, or a controller should have recorded it. */
  #whyUnnoted(sender: Call['process'], group: PlainGroup, view: Call['seen']): string | undefined {
    const pods = podsIn(this.#evidence.record, view);
    if (isStartNoted(group, pods) || this.#starts.has(sender, group)) return undefined;
    if (notedStart(group) === true) return 'only an earlier start was recorded';
    const isRelabelled = pods.some((pod) => pod.boundFor === group.uid && pod.group !== group.name);
    if (isRelabelled) return 'a member lost its label';
    if (tallyOf(group, pods).isWhole) return undefined;
    const wasWholeBriefly = (this.#wholeMs.get(group.uid) ?? 0) < brieflyMs;
    if (wasWholeBriefly) return 'a member had ended';
    const controllers = [...this.#starts.processes].filter(({ role }) => role === 'controller');
    const informed = controllers.filter((controller) => this.#starts.has(controller, group));
    if (informed.length === 0) return 'lists skipped the bound quorum';
    const until = this.#wholeUntil.get(group.uid) ?? Infinity;
    const hasLed = (controller: Call['process']): boolean => (this.#ledFrom.get(controller) ?? Infinity) <= until;
    if (this.#ledFrom.size > 0 && !informed.some(hasLed)) return 'no controller led';
    // What lasts from the start to the end of that time leaves no time to record it.
    const from = until - (this.#wholeMs.get(group.uid) ?? 0);
    const lasted = (was: (from: number, to: number) => boolean): boolean =>
      was(from, from + brieflyMs) && was(until - brieflyMs, until);
    if (informed.every((controller) => lasted((...span) => controller.wasStopped(...span))))
      return 'the controller was stopped';
    if (group.isNative && lasted(this.#wereNativeGroupsHidden)) return 'its PodGroup was not served';
    const write = this.#statusCalls.get(group.name);
    const isUnanswered = write !== undefined && write.status === undefined && !write.isGivenUp;
    return isUnanswered ? 'a status call has no response' : undefined;
  }

  #wasReleasedLately(name: string): boolean {
    return this.#evidence.now() - (this.#releasedAt.get(name) ?? -Infinity) < lateMs;
  }
}

/** Returns the name of the group whose status a call writes. */
function groupIn(path: string): string {
  const [, namespace, name] = /\/namespaces\/([^/]+)\/podgroups\/([^/]+)\//.exec(path)!;
  return groupNameIn(namespace, name, path.startsWith('/apis/scheduling.k8s.io/'))!;
}

/** Records since when a group is in a state; forgets it once it is not. */
function note(since: Map<string, number>, uid: string, isSo: boolean, now: number): void {
  if (!isSo) since.delete(uid);
  else if (!since.has(uid)) since.set(uid, now);
}

/** Returns whether the node runs pods. On one that does not, a pod may terminate forever, and no group waits for its end. */
function isAlive(node: any): boolean {
  const taints: readonly { readonly key: string }[] = node?.spec?.taints ?? [];
  return node !== undefined && !taints.some(({ key }) => lostTaints.includes(key));
}
