import type { StoreRecord } from '../world/record.ts';
import { podKeyIn } from '../world/call.ts';
import type { Call } from '../world/call.ts';
import type { Evidence } from './evidence.ts';
import { groupNamed, missingOf, podsIn, tallyOf } from './plain-group.ts';
import type { View } from './plain-group.ts';
import { groupNameOfKey, isOpen, plainPod } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';

/** For whom a plan evicts pods. */
export interface Beneficiary {
  /** The group as the scheduler names it, or namespace/name of a single pod. */
  readonly key: string;
  readonly group: PlainGroup | undefined;
  /** uid of the group object or of the pod */
  readonly uid: string;
  /** The members that wait for a node, and how many of them it needs at least. */
  readonly waiting: readonly PlainPod[];
  readonly needed: number;
  /** Priority with which it preempts. */
  readonly priority: number;
}

interface Victim {
  /** The pod as the sender knew it. */
  readonly pod: PlainPod;
  mark: Call;
  readonly deletes: Call[];
}

/** What a process sent to evict pods for one beneficiary, from the first mark on. */
export interface PreemptionPlan {
  readonly process: Call['process'];
  readonly key: string;
  /** Undefined: it did not wait for a node, by anything that the sender had received. */
  readonly beneficiary: Beneficiary | undefined;
  readonly startedAt: number;
  /** The states of the store that it may rest on. */
  readonly views: readonly View[];
  /** By view: the beneficiary as it shows it; undefined: it waits for no node. */
  readonly found: readonly (Beneficiary | undefined)[];
  /** uid -> victim */
  readonly victims: Map<string, Victim>;
  firstDeleteAt: number | undefined;
  /** A mark was taken back. */
  isCancelled: boolean;
}

/** Without a mark for that long, the next one belongs to another plan. */
const marksTakeMs = 500;
/** The same if marks wait in the rate limiter. */
const limitedMarksTakeMs = 30_000;

/** The pod is gone, another one has its name, or the patch is repeated. */
const noRefusals: ReadonlySet<number> = new Set([404, 409, 429]);

export interface MarkText {
  /** `key` of the beneficiary; undefined: the sender continues what an earlier process began. */
  readonly for: string | undefined;
  readonly isGang: boolean;
  readonly uid: string;
  readonly isTrue: boolean;
}

/** Returns what a call of the class `mark` says. A mark in another namespace has the uid of the beneficiary instead of its key. */
export function readMark(call: Call, record: StoreRecord): MarkText {
  const { metadata, status } = JSON.parse(String(call.request.body));
  const [condition] = status.conditions;
  const [, kind, name] = markPattern.exec(condition.message) ?? [];
  const uid = name?.startsWith('uid ') === true ? name.slice('uid '.length) : undefined;
  const key = uid === undefined ? name : keyOf(uid, record);
  return { for: key, isGang: kind === 'podgroup', uid: metadata.uid, isTrue: condition.status === 'True' };
}

const markPattern = /higher priority (pod|podgroup)(?: of another namespace)?(?: \((.*)\))?$/;

/** Returns the key of a pod or group as the scheduler shows it. */
function keyOf(uid: string, { changes }: StoreRecord): string | undefined {
  const found = changes.find((change) => change.uid === uid);
  return found?.resource === 'podgroups.scheduling.k8s.io' ? `scheduling.k8s.io/${found.key}` : found?.key;
}

type PreemptionEvidence = Pick<Evidence, 'record' | 'started' | 'isStartMissed'>;

/** Returns the beneficiary as a view of the store shows it; undefined: it waits for no node. `isComing`: a Binding was sent for the pod. */
function beneficiaryIn(
  { record, started, isStartMissed }: PreemptionEvidence,
  { key, isGang }: { readonly key: string; readonly isGang: boolean },
  view: View,
  isComing: (uid: string) => boolean,
): Beneficiary | undefined {
  const pods = podsIn(record, view);
  if (!isGang) {
    const pod = pods.find((each) => each.key === key);
    if (pod === undefined || !isOpen(pod)) return undefined;
    return { key, group: undefined, uid: pod.uid, waiting: [pod], needed: 1, priority: pod.priority };
  }
  const group = groupNamed(record, groupNameOfKey(key), view);
  if (group === undefined) return undefined;
  const { open } = tallyOf(group, pods);
  const waiting = open.filter(({ uid }) => !isComing(uid));
  const coming = open.length - waiting.length;
  const needed = Math.max(0, missingOf(group, pods, isStartMissed(group) ? new Set() : started) - coming);
  if (waiting.length === 0) return undefined;
  const priority = Math.min(...waiting.map((pod) => pod.priority));
  return { key, group, uid: group.uid, waiting, needed, priority };
}

/** Divides the marks and deletes that processes send into plans. */
export class PreemptionRecord {
  readonly plans: PreemptionPlan[] = [];
  readonly #evidence: PreemptionEvidence;
  readonly #record: StoreRecord;
  readonly #marksTakeMs: number;
  /** process and beneficiary -> its latest plan */
  readonly #latest = new Map<string, PreemptionPlan>();
  /** process and uid of a pod -> the latest plan in which it is a victim */
  readonly #ofVictim = new Map<string, PreemptionPlan>();
  /** process and uid of a pod -> its latest patch that sets the mark, or its delete; removed when it takes the mark back */
  readonly #evictions = new Map<string, Call>();
  /** process -> the Bindings that it has sent */
  readonly #bindings = new Map<Call['process'], Call[]>();
  /** Bindings that their sender has given up before it read the pod */
  readonly #withdrawn = new Set<Call>();

  constructor(evidence: PreemptionEvidence, isRateLimited = false) {
    this.#evidence = evidence;
    this.#record = evidence.record;
    this.#marksTakeMs = isRateLimited ? limitedMarksTakeMs : marksTakeMs;
  }

  /** Returns the plan of the victim; undefined: the process has sent no mark with a beneficiary. */
  planOf(process: Call['process'], uid: string): PreemptionPlan | undefined {
    return this.#ofVictim.get(`${process.name} ${uid}`);
  }

  /** Returns whether the process evicts the pod: it has sent a delete, or a mark that was not rejected or taken back since. */
  isGoing(process: Call['process'], uid: string): boolean {
    const eviction = this.#evictions.get(`${process.name} ${uid}`);
    const { status = 0 } = eviction ?? {};
    return eviction !== undefined && (eviction.of !== 'mark' || status < 400 || noRefusals.has(status));
  }

  /**
   * Reports whether the process may have given up the plan to evict the pod, because the beneficiary has a later one. The patch that takes the
   * mark back may wait.
   */
  mayBeGivenUp(process: Call['process'], uid: string): boolean {
    const plan = this.planOf(process, uid);
    const isMarked = this.#evictions.get(`${process.name} ${uid}`)?.of === 'mark';
    return isMarked && plan !== undefined && this.#latest.get(`${process.name} ${plan.key}`) !== plan;
  }

  /**
   * Returns the uids of the pods for which the process has sent a Binding until then, each with its node: without those that were rejected,
   * or that it has given up before it read the pod, unless they were sent after `openSince`.
   */
  comingOf(process: Call['process'], until = Infinity, openSince = Infinity): ReadonlyMap<string, string> {
    const sent = (this.#bindings.get(process) ?? []).filter(
      (call) => call.sentAt <= until && (this.#isPending(call) || call.sentAt > openSince),
    );
    return new Map(
      sent.map(({ request }) => {
        const { metadata, target } = JSON.parse(String(request.body));
        return [metadata.uid as string, target.name as string];
      }),
    );
  }

  /** Returns whether the process has sent a Binding for the pod as a member of this group object, or as one of no group. */
  isComingTo(process: Call['process'], groupUid: string, uid: string): boolean {
    return (this.#bindings.get(process) ?? []).some(({ request, status = 0 }) => {
      const { metadata } = JSON.parse(String(request.body));
      const boundFor = metadata.annotations?.['tutti.dev/pod-group-uid'] ?? groupUid;
      return metadata.uid === uid && status < 400 && boundFor === groupUid;
    });
  }

  /** Reports whether a Binding of the plan's beneficiary to the node was sent since the plan began. */
  wasTriedOn(node: string, { beneficiary, startedAt }: PreemptionPlan): boolean {
    const uids = new Set(beneficiary!.waiting.map(({ uid }) => uid));
    return [...this.#bindings.values()].flat().some(({ sentAt, request }) => {
      const { metadata, target } = JSON.parse(String(request.body));
      return sentAt >= startedAt && target.name === node && uids.has(metadata.uid);
    });
  }

  /**
   * Returns the uids of pods of at least this priority that the process nominated after the view and until then, each with its first node
   * there. It knew its nominations before they came back by the watch.
   */
  nominatedBy(process: Call['process'], after: View, until: number, priority: number): ReadonlyMap<string, string> {
    const nominated = new Map<string, string>();
    for (const { resource, by, at, version, object, previous } of this.#record.changes) {
      if (resource !== 'pods' || by !== process.name || version <= after.pods || at > until) continue;
      if (previous === undefined) continue;
      const pod = plainPod(object);
      const isNew = pod.nominatedNode !== '' && pod.nominatedNode !== plainPod(previous).nominatedNode;
      if (isNew && pod.priority >= priority && !nominated.has(pod.uid)) nominated.set(pod.uid, pod.nominatedNode);
    }
    return nominated;
  }

  #isPending(binding: Call): boolean {
    return (binding.status ?? 0) < 400 && !this.#withdrawn.has(binding);
  }

  /** A pod was read. */
  read({ process, request }: Call): void {
    for (const binding of this.#bindings.get(process) ?? [])
      if (binding.isGivenUp && binding.request.path === `${request.path}/binding`) this.#withdrawn.add(binding);
  }

  /** A Binding was sent. */
  bound(call: Call): void {
    this.#bindings.set(call.process, [...(this.#bindings.get(call.process) ?? []), call]);
  }

  /** A mark was sent. Returns its plan, and whether it is the first of it; undefined: it begins no plan. */
  marked(call: Call): { readonly plan: PreemptionPlan; readonly isFirst: boolean } | undefined {
    const { process } = call;
    const text = readMark(call, this.#record);
    if (text.isTrue) this.#evictions.set(`${process.name} ${text.uid}`, call);
    else {
      this.#evictions.delete(`${process.name} ${text.uid}`);
      const plan = this.planOf(process, text.uid);
      if (plan !== undefined) plan.isCancelled = true;
      return undefined;
    }
    if (text.for === undefined) return undefined;
    const views = [call.begun.seen, ...call.views];
    const pod = this.#podNow(podKeyIn(call.request.path), text.uid, views);
    if (pod === undefined) return undefined;
    const name = `${process.name} ${text.for}`;
    const known = this.#latest.get(name);
    const isContinued = known !== undefined && this.#continues(known, text.uid, call);
    const plan = isContinued ? known : this.#begin(call, { key: text.for, isGang: text.isGang }, views);
    if (!isContinued) this.#latest.set(name, plan);
    const victim = plan.victims.get(text.uid);
    if (victim === undefined) plan.victims.set(text.uid, { pod, mark: call, deletes: [] });
    else victim.mark = call;
    this.#ofVictim.set(`${process.name} ${text.uid}`, plan);
    return { plan, isFirst: !isContinued };
  }

  /** A delete was sent. Returns its plan; undefined: the pod is no victim of this process. */
  deleted(call: Call, now: number): PreemptionPlan | undefined {
    const { uid } = JSON.parse(String(call.request.body)).preconditions ?? {};
    this.#evictions.set(`${call.process.name} ${uid}`, call);
    const plan = this.planOf(call.process, uid);
    if (plan === undefined) return undefined;
    plan.victims.get(uid)!.deletes.push(call);
    plan.firstDeleteAt ??= now;
    return plan;
  }

  #continues(plan: PreemptionPlan, uid: string, { begun, request }: Call): boolean {
    if (plan.isCancelled || plan.firstDeleteAt !== undefined) return false;
    const latest = Math.max(...[...plan.victims.values()].map(({ mark }) => mark.begun.at));
    const known = plan.victims.get(uid)?.mark;
    const isRepeated = known !== undefined && (known.status === undefined || known.request.body === request.body);
    return isRepeated || begun.at - latest < this.#marksTakeMs;
  }

  #begin(
    { process, begun }: Call,
    named: { readonly key: string; readonly isGang: boolean },
    views: readonly View[],
  ): PreemptionPlan {
    const coming = this.comingOf(process);
    const found = views.map((view) => beneficiaryIn(this.#evidence, named, view, (uid) => coming.has(uid)));
    const plan: PreemptionPlan = {
      process,
      key: named.key,
      beneficiary: found.find((each) => each !== undefined),
      startedAt: begun.at,
      views,
      found,
      victims: new Map(),
      firstDeleteAt: undefined,
      isCancelled: false,
    };
    this.plans.push(plan);
    return plan;
  }

  #podNow(key: string, uid: string, views: readonly View[]): PlainPod | undefined {
    for (const view of views) {
      const object = this.#record.get('pods', key, view.pods);
      if (object !== undefined && plainPod(object).uid === uid) return plainPod(object);
    }
    return undefined;
  }
}
