import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import type { Call } from '../world/call.ts';
import type { Committed } from '../world/record.ts';
import type { WatchedResource } from '../scenario.ts';
import type { Checker, Evidence } from './evidence.ts';
import { hasEnded, isOnNode, plainGroup, plainNode, plainPod } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';
import { groupNamed, podsIn, tallyOf, whyHeldBack } from './plain-group.ts';

interface Plan {
  readonly process: Call['process'];
  readonly group: string;
  readonly quorum: number;
  readonly begunAt: number;
  /** The oldest state of the store that it may rest on. */
  readonly restsOn: Call['seen'];
  /** Other members were bound when it began, or had Bindings in flight from an earlier plan. */
  readonly isRepair: boolean;
  /** uids of members that were bound when it began or for which a Binding was sent. */
  readonly members: Set<string>;
  readonly calls: Call[];
}

/** The Bindings of a plan go out together at once. A slow first Binding holds the others back, by this time at most. */
const togetherMs = 3_000;
/** The same when calls wait in the rate limiter or for a connection. */
const delayedMs = 20_000;

/**
 * I1, when a Binding is sent. By the versions that had reached its sender, the pod exists, is unbound, is not terminating and is a member.
 * Its node exists, and the group has enough members that are bound or schedulable. A plan is also complete: Bindings go out for the whole
 * quorum that its annotation names, unless something that the plan rests on changed in between. By one of these versions, the group needs
 * that quorum when the first Binding is sent. Nothing holds the group back, such as a member with scheduling gates, when the plan is made.
 *
 * The checker cannot see a plan whose Bindings were never sent.
 */
export class QuorumChecker implements Checker {
  readonly #evidence: Evidence;
  /** plan -> its Bindings and members */
  readonly #plans = new Map<string, Plan>();
  /** process name -> uids of pods for which it has sent a Binding that was not rejected */
  readonly #sent = new Map<string, Set<string>>();
  /** uids of groups that have ever started */
  readonly #everStarted = new Set<string>();
  readonly #togetherMs: () => number;
  readonly #planMs: () => number;

  /** `areDelayed`: returns whether calls may wait before they are sent. `pluginsTakeMs`: how long plugins take before that at most. */
  constructor(evidence: Evidence, areDelayed: () => boolean = () => false, pluginsTakeMs = 0) {
    this.#evidence = evidence;
    this.#togetherMs = () => (areDelayed() ? delayedMs : togetherMs);
    this.#planMs = () => this.#togetherMs() + pluginsTakeMs;
  }

  sent(call: Call): void {
    if (call.of !== 'bind') return;
    const { process, views } = call;
    const { metadata, target } = JSON.parse(String(call.request.body));
    const problems = views.map((view) => this.#problem(metadata, target.name, view));
    // The view by which the Binding is valid. By newer views its pod may be gone.
    const view = views[problems.indexOf(undefined)];
    if (view === undefined) {
      const [first] = problems;
      this.#evidence.violated('I1', `${process.name} sent a Binding of ${metadata.name} to ${target.name}: ${first}`);
      return;
    }
    const object = this.#evidence.record.get('pods', `${metadata.namespace}/${metadata.name}`, view.pods);
    const pod = object && plainPod(object);
    const uid: string | undefined = metadata.uid ?? pod?.uid;
    if (uid === undefined) return;
    const ofProcess = this.#sent.get(process.name) ?? new Set();
    const isRepeated = ofProcess.has(uid);
    this.#sent.set(process.name, ofProcess.add(uid));
    if (!isRepeated) this.#mayStart(call, `${metadata.namespace}/${metadata.name}`);
    const group = pod?.group === undefined ? undefined : groupNamed(this.#evidence.record, pod.group, view);
    if (group === undefined) return;
    // A member beyond the quorum has no plan: the quorum is complete before it is bound.
    const planId: string = metadata.annotations?.['tutti.dev/plan'] ?? `of ${uid} alone, by ${process.name}`;
    const quorum = Number(metadata.annotations?.['tutti.dev/quorum'] ?? group.minMember);
    const begun = this.#plans.get(planId);
    // A plan keeps its Bindings even if the group starts while they go out, for example because minMember is lowered.
    if (begun === undefined && this.#hasStarted(group, view)) return;
    const needed = views.map((each) => groupNamed(this.#evidence.record, group.name, each)?.minMember);
    if (begun === undefined && !needed.includes(quorum)) {
      const what = `plan ${planId} records a quorum of ${quorum}, and its sender had seen that group ${group.name}`;
      this.#evidence.violated('I1', `${what} needs ${needed[0]}`);
      return;
    }
    const plan = begun ?? this.#begin(planId, call, group.name, uid, quorum);
    plan.calls.push(call);
    plan.members.add(uid);
    // Each of several repaired members may have its own plan.
    for (const other of this.#plans.values()) {
      if (other.isRepair && other.group === group.name && other.process === process) other.members.add(uid);
    }
  }

  /** Returns what is wrong with a Binding by one view of the store; undefined: nothing. */
  #problem({ namespace, name, uid: named, annotations }: any, node: string, view: Call['seen']): string | undefined {
    const { record } = this.#evidence;
    const object = record.get('pods', `${namespace}/${name}`, view.pods);
    const pod = object && plainPod(object);
    // A Binding without a uid applies to any pod of that name; the checker sees the effect once it has been carried out.
    if (pod === undefined || (named ?? pod.uid) !== pod.uid) return 'it had seen that the pod is gone';
    if (pod.isLeaving) return 'it had seen that the pod is terminating';
    if (pod.node !== '' && pod.node !== node) return `it had seen that the pod is bound to ${pod.node}`;
    if (record.get('nodes', `/${node}`, view.nodes) === undefined) return 'it had seen that the node is gone';
    if (pod.group === undefined) return undefined;
    const group = groupNamed(record, pod.group, view);
    if (group === undefined) return `it had seen that its group ${pod.group} is gone`;
    const boundFor = annotations?.['tutti.dev/pod-group-uid'];
    if (boundFor !== group.uid) return `it is for ${boundFor}, and it had seen that the group is ${group.uid} now`;
    const { bound, open } = tallyOf(group, podsIn(record, view));
    const able = bound.length + open.length;
    if (this.#hasStarted(group, view) || able >= group.minMember) return undefined;
    return `${able} members are bound or schedulable, but it needs ${group.minMember}`;
  }

  /**
   * Checks that nothing held back the group of the pod when the plan was made. Later, nothing stops a plan: its time is not known, so any view
   * of the time that a plan may take counts.
   */
  #mayStart({ process, viewsOf }: Call, key: string): void {
    const { record } = this.#evidence;
    const found = viewsOf(this.#planMs()).map((view) => {
      const object = record.get('pods', key, view.pods);
      const pod = object && plainPod(object);
      const group = pod?.group === undefined ? undefined : groupNamed(record, pod.group, view);
      return group && whyHeldBack(record, group, podsIn(record, view), view, pod)?.why;
    });
    if (!found.includes(undefined))
      this.#evidence.violated('I1', `${process.name} sent a Binding of ${key}, although it had seen that ${found[0]}`);
  }

  /** Returns whether the group has started by this view: its quorum was bound, and some member still is or has succeeded. */
  #hasStarted(group: PlainGroup, view: Call['seen']): boolean {
    if (group.minMember === 0) return true;
    if (!this.#everStarted.has(group.uid)) return false;
    const { bound, succeeded } = tallyOf(group, podsIn(this.#evidence.record, view));
    return bound.length + succeeded > 0;
  }

  committed(): void {
    for (const uid of this.#evidence.started) this.#everStarted.add(uid);
  }

  done(call: Call): void {
    if (call.of !== 'bind') return;
    const { metadata, target } = JSON.parse(String(call.request.body));
    const key = `${metadata.namespace}/${metadata.name}`;
    const { record } = this.#evidence;
    const object = record.get('pods', key);
    const bound = object && plainPod(object);
    // A pod whose Binding was rejected no longer counts as a coming member, unless an earlier Binding, whose answer was lost, had bound it.
    const isThere = bound?.uid === metadata.uid && bound?.node === target.name;
    if (isRejection(call.status!) && !isThere) this.#sent.get(call.process.name)?.delete(metadata.uid);
    if (call.status! >= 300) return;
    const meant = record.get('pods', key, call.seen.pods);
    if (meant === undefined || bound === undefined || plainPod(meant).uid === bound.uid) return;
    this.#evidence.violated('I1', `${call.process.name} bound another ${metadata.name} than the one that it had seen`);
  }

  settled(): undefined {
    for (const [id, plan] of this.#plans) this.#look(id, plan);
    this.#plans.clear();
  }

  #begin(id: string, { process, sentAt, seen, views }: Call, group: string, first: string, quorum: number): Plan {
    const { record } = this.#evidence;
    const sent = this.#sent.get(process.name)!;
    const counted = podsIn(record, seen).filter((pod) => pod.group === group && (isOnNode(pod) || sent.has(pod.uid)));
    const plan = {
      process,
      group,
      quorum,
      begunAt: sentAt,
      restsOn: views.at(-1)!,
      isRepair: counted.some(({ uid }) => uid !== first) || this.#hasBegun(group, process),
      members: new Set(counted.map(({ uid }) => uid)),
      calls: [],
    };
    this.#plans.set(id, plan);
    return plan;
  }

  #hasBegun(group: string, process: Call['process']): boolean {
    return [...this.#plans.values()].some((plan) => plan.group === group && plan.process === process);
  }

  #look(id: string, { process, group, quorum, begunAt, restsOn, members, calls }: Plan): void {
    const { record } = this.#evidence;
    if (members.size >= quorum) return;
    const until = begunAt + this.#togetherMs();
    // The other Bindings, still queued, could no longer complete the quorum. A call that is repeated withdraws nothing.
    const last = new Map(calls.map((call) => [call.request.path, call]));
    if ([...last.values()].some(({ status, sentAt }) => status !== undefined && status >= 400 && sentAt <= until))
      return this.#evidence.excused('a plan is incomplete: one of its Bindings was rejected');
    // A process that crashed or paused could not continue.
    if (process.wasStopped(begunAt, until))
      return this.#evidence.excused('a plan is incomplete: its process was stopped');
    const podChanges = record.changes.filter(({ resource }) => resource === 'pods');
    // Includes members for which no Binding was sent.
    const planned = podChanges.map(({ object }) => plainPod(object)).filter((pod) => pod.group === group);
    // A new node is a domain without members, from which the others may differ by too many.
    const spreads = planned.some(({ terms }) => terms.some(({ kind }) => kind === 'spread'));
    const isMoved = record.changes.some((change) => {
      const isNews = change.version > restsOn[watchedOf(change)];
      return (
        isNews &&
        change.by !== process.name &&
        change.at <= until &&
        (mayUpset(change, group, (node) => planned.some((pod) => isOpenTo(pod, record.get('nodes', `/${node}`)))) ||
          (spreads && change.resource === 'nodes' && change.type === 'ADDED'))
      );
    });
    if (isMoved) return this.#evidence.excused('a plan is incomplete: something that it rests on changed');
    this.#evidence.violated(
      'I1',
      `plan ${id} of group ${group} sent Bindings for ${members.size} members of a quorum of ${quorum}`,
    );
  }
}

function watchedOf({ resource }: Committed): WatchedResource {
  if (resource === 'pods' || resource === 'nodes') return resource;
  return resource === 'podgroups.scheduling.k8s.io' ? 'nativepodgroups' : 'podgroups';
}

/** Reports whether the call is rejected for good. A call answered with 429 or 5xx may be sent again. */
function isRejection(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/**
 * Reports whether a change may invalidate a plan for a group. New pods and status updates cannot. `matters`: reports whether members may be
 * on a node.
 */
function mayUpset(
  { resource, type, object, previous }: Committed,
  group: string,
  matters: (node: string) => boolean,
): boolean {
  if (resource === 'pods') {
    const pod = plainPod(object);
    const before = previous && plainPod(previous);
    const isMember = pod.group === group || before?.group === group;
    return isMember ? hasLeft(pod, before, type) : pod.node !== '' && matters(pod.node) && takesMore(pod, before);
  }
  if (resource.startsWith('podgroups')) {
    return type === 'DELETED' || (previous && plainGroup(previous).minMember) !== plainGroup(object).minMember;
  }
  return resource === 'nodes' && matters(plainNode(object).name) && (type === 'DELETED' || hasLess(object, previous));
}

function hasLeft(pod: PlainPod, before: PlainPod | undefined, type: Committed['type']): boolean {
  if (before === undefined) return false;
  const isOther = pod.group !== before.group || pod.isLeaving !== before.isLeaving;
  return type === 'DELETED' || hasEnded(pod) || isOther || takesMore(pod, before);
}

function takesMore(pod: PlainPod, before: PlainPod | undefined): boolean {
  if (before === undefined || !isOnNode(before)) return isOnNode(pod);
  return pod.milliCpu > before.milliCpu || pod.mebibytes > before.mebibytes;
}

function hasLess(object: JsonObject, previous: JsonObject | undefined): boolean {
  if (previous === undefined) return false;
  const [now, before] = [plainNode(object), plainNode(previous)];
  if (now.isClosed && !before.isClosed) return true;
  return now.milliCpu < before.milliCpu || now.mebibytes < before.mebibytes || now.pods < before.pods;
}

/** Compares zones. A node that is gone may have been open to the pod. */
function isOpenTo({ zone }: PlainPod, node: JsonObject | undefined): boolean {
  return zone === undefined || node === undefined || plainNode(node).zone === zone;
}
