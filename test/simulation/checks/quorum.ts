import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import type { Call } from '../world/call.ts';
import type { Committed } from '../world/record.ts';
import type { Checker, Evidence } from './evidence.ts';
import { hasEnded, isOnNode, plainGroup, plainNode, plainPod } from './plain-objects.ts';
import type { PlainPod } from './plain-objects.ts';
import { groupNamed, podsIn, tallyOf } from './plain-group.ts';

interface Plan {
  readonly process: Call['process'];
  readonly group: string;
  readonly quorum: number;
  readonly begunAt: number;
  /** Others of the group were on nodes when it began, or on their way with a plan that had begun. */
  readonly isRepair: boolean;
  /** uids of members for which a Binding was sent, or that were bound when it began. */
  readonly members: Set<string>;
  readonly calls: Call[];
}

/** Bindings of a plan go out together and at once, unless a rate limit or a connection keeps some: that long at most. */
const togetherMs = 20_000;

/**
 * I1 when a Binding is sent: on what its sender had been told by then (the versions that had reached it), the pod is there, unbound, not
 * leaving and a member, its node is there, and as many members are bound or able as the group needs. And a plan is whole: Bindings go out
 * for the whole quorum that its annotation names, unless something that the plan rests on changed on the way.
 *
 * What a scheduler planned and did not send is not seen.
 */
export class QuorumChecker implements Checker {
  readonly #evidence: Evidence;
  /** plan -> what is known of it */
  readonly #plans = new Map<string, Plan>();
  /** process name -> uids of pods for which it has sent a Binding, unless it was rejected */
  readonly #sent = new Map<string, Set<string>>();

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  sent(call: Call): void {
    if (call.of !== 'bind') return;
    const { process, views } = call;
    const { metadata, target } = JSON.parse(String(call.request.body));
    const problems = views.map((view) => this.#problem(metadata, target.name, view));
    // The view by which it is right: by what came since, its pod may be gone.
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
    this.#sent.set(process.name, ofProcess.add(uid));
    const group = pod?.group === undefined ? undefined : groupNamed(this.#evidence.record, pod.group, view);
    if (group === undefined) return;
    // A member beyond the quorum has none of its own: others make the quorum before it goes.
    const planId: string = metadata.annotations?.['tutti.dev/plan'] ?? `of ${uid} alone, by ${process.name}`;
    const quorum = Number(metadata.annotations?.['tutti.dev/quorum'] ?? group.minMember);
    const begun = this.#plans.get(planId);
    // What a plan sends after the group has started by it, its minMember lowered say, is of the plan all the same.
    if (begun === undefined && this.#evidence.started.has(group.uid)) return;
    const plan = begun ?? this.#begin(planId, call, group.name, uid, quorum);
    plan.calls.push(call);
    plan.members.add(uid);
    // Of several members that are repaired each may be of a plan of its own.
    for (const other of this.#plans.values()) {
      if (other.isRepair && other.group === group.name && other.process === process) other.members.add(uid);
    }
  }

  /** What is wrong with a Binding by one view of the store; undefined: nothing. */
  #problem({ namespace, name, uid: named, annotations }: any, node: string, view: Call['told']): string | undefined {
    const { record, started } = this.#evidence;
    const object = record.get('pods', `${namespace}/${name}`, view.pods);
    const pod = object && plainPod(object);
    // One that names no uid is for whatever has the name; what that comes to is seen when it has been carried out.
    if (pod === undefined || (named ?? pod.uid) !== pod.uid) return 'it had been told that the pod is gone';
    if (pod.isLeaving) return 'it had been told that the pod is leaving';
    if (pod.node !== '' && pod.node !== node) return `it had been told that the pod is on ${pod.node}`;
    if (record.get('nodes', `/${node}`, view.nodes) === undefined) return 'it had been told that the node is gone';
    if (pod.group === undefined) return undefined;
    const group = groupNamed(record, pod.group, view);
    if (group === undefined) return `it had been told that its group ${pod.group} is gone`;
    const boundFor = annotations?.['tutti.dev/pod-group-uid'];
    if (boundFor !== group.uid) return `it is for ${boundFor}, and it had been told that the group is ${group.uid} now`;
    const { bound, open } = tallyOf(group, podsIn(record, view));
    const able = bound.length + open.length;
    if (started.has(group.uid) || able >= group.minMember) return undefined;
    return `${able} members are bound or able, of the ${group.minMember} that it needs`;
  }

  done(call: Call): void {
    if (call.of !== 'bind') return;
    const { metadata } = JSON.parse(String(call.request.body));
    // Who has been rejected is no member that comes; one that is on a node already is counted there.
    if (isRejection(call.status!)) this.#sent.get(call.process.name)?.delete(metadata.uid);
    if (call.status! >= 300) return;
    const key = `${metadata.namespace}/${metadata.name}`;
    const { record } = this.#evidence;
    const meant = record.get('pods', key, call.told.pods);
    const bound = record.get('pods', key);
    if (meant === undefined || bound === undefined || plainPod(meant).uid === plainPod(bound).uid) return;
    this.#evidence.violated(
      'I1',
      `${call.process.name} bound another ${metadata.name} than the one that it had been told of`,
    );
  }

  settled(): undefined {
    for (const [id, plan] of this.#plans) this.#look(id, plan);
    this.#plans.clear();
  }

  #begin(id: string, { process, sentAt, told }: Call, group: string, first: string, quorum: number): Plan {
    const { record } = this.#evidence;
    const sent = this.#sent.get(process.name)!;
    const counted = podsIn(record, told).filter((pod) => pod.group === group && (isOnNode(pod) || sent.has(pod.uid)));
    const plan = {
      process,
      group,
      quorum,
      begunAt: sentAt,
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

  #look(id: string, { process, group, quorum, begunAt, members, calls }: Plan): void {
    const { record } = this.#evidence;
    if (members.size >= quorum) return;
    // The others, which waited for their turn, could not make a quorum any more.
    if (calls.some(({ status }) => status !== undefined && status >= 400))
      return this.#evidence.excused('a plan is not whole: a Binding of it was rejected');
    // Whoever is gone, or was not there for a while, could not go on.
    if (!process.isAlive || process.wasPaused)
      return this.#evidence.excused('a plan is not whole: its process was stopped');
    const uids = new Set(calls.map(({ request }) => JSON.parse(String(request.body)).metadata.uid));
    // A plan counts on nothing that was over before the last of its members came.
    const complete = record.changes.findLast(({ type, uid }) => type === 'ADDED' && uids.has(uid));
    const podChanges = record.changes.filter(({ resource }) => resource === 'pods');
    // Also those of whom no Binding was sent.
    const planned = podChanges.map(({ object }) => plainPod(object)).filter((pod) => pod.group === group);
    const from = Math.max(complete?.at ?? 0, begunAt - togetherMs);
    const isMoved = record.changes.some(
      (change) =>
        change.by !== process.name &&
        change.at > from &&
        change.at <= begunAt + togetherMs &&
        mayUpset(change, group, (node) => planned.some((pod) => isOpenTo(pod, record.get('nodes', `/${node}`)))),
    );
    if (isMoved) return this.#evidence.excused('a plan is not whole: what it rests on changed');
    this.#evidence.violated(
      'I1',
      `plan ${id} of group ${group} sent Bindings that make ${members.size} members, of the ${quorum} that it is for`,
    );
  }
}

/** Not carried out, whatever comes; 429 and what is answered with 5xx may be sent again. */
function isRejection(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/**
 * Whether a plan for a group may come to nothing by it. That somebody comes, or that something is said of one, is no reason. `matters`: of a
 * node, whether members may be on it.
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

/** By its zone. One that is gone may have been. */
function isOpenTo({ zone }: PlainPod, node: JsonObject | undefined): boolean {
  return zone === undefined || node === undefined || plainNode(node).zone === zone;
}
