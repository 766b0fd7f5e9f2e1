/** Everything that a run depends on, as plain data: a run is a function of it. Times are milliseconds from the start. */
export interface Scenario {
  /** Seed for everything that is not listed below: latencies, uids, random draws of the processes. */
  readonly seed: number;
  readonly nodes: readonly NodePlan[];
  readonly scheduler: SchedulerPlan;
  readonly hasController: boolean;
  /** A node for which every Binding is rejected with 403, always, as by an admission webhook. */
  readonly forbiddenNode?: string;
  /** Pods for which every Binding is rejected in the same way. */
  readonly forbiddenPods?: readonly string[];
  readonly extender?: ExtenderPlan;
  readonly network: NetworkPlan;
  readonly steps: readonly Step[];
  readonly faults: readonly Fault[];
  /** Faults on calls and watches strike until this time, if it is later than the last step. */
  readonly faultsUntil?: number;
}

export interface NodePlan {
  readonly name: string;
  readonly milliCpu: number;
  readonly mebibytes: number;
  readonly pods: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Takes only pods that name its zone. */
  readonly isReserved?: boolean;
}

export interface SchedulerPlan {
  /** Instances that run for election; a single one leads without an election unless `elects`. */
  readonly instances: number;
  readonly elects: boolean;
  readonly qps: number;
  readonly burst: number;
  /** Time that a Permit plugin holds every pod; 0: no plugin. */
  readonly permitMs: number;
  /** Maximum duration of a PreBind plugin, which sometimes fails for `volumesFailForMs`; 0: no plugin. */
  readonly preBindMs: number;
  /** Number of node visits after which an attempt yields, for up to `maxYieldMs`. Absent: it never yields. */
  readonly workAtATime?: number;
  /** Absent: no capacity is reserved until a predicted start. */
  readonly reservations?: ReservationsPlan;
}

/** Reservations with a predicted start. */
export interface ReservationsPlan {
  /** Label whose values are the pools. Absent: the cluster is one pool. */
  readonly poolLabel?: 'zone';
  readonly reserveAfterMs: number;
  readonly drainAfterMs: number;
  readonly overrunPenaltyMs: number;
  /** Only the first profile has them. */
  readonly isForOneProfile?: true;
}

/** An extender that filters the nodes of the pods that it handles. */
export interface ExtenderPlan {
  /** Names of the nodes that it refuses. */
  readonly refused: readonly string[];
  /** Maximum time that it takes to respond. */
  readonly respondsInMs: number;
  /** Share of the calls that fail, until `volumesFailForMs`. */
  readonly failing: number;
}

export interface NetworkPlan {
  /** Each direction takes between half of it and all of it. */
  readonly latencyMs: number;
  readonly watchLagMs: number;
  readonly bookmarks: boolean;
}

export interface MemberPlan {
  readonly milliCpu: number;
  readonly mebibytes: number;
  readonly hostPort?: number;
  readonly gated?: boolean;
  readonly finalizer?: boolean;
  readonly zone?: string;
  /** Zone of its volume; `late`: the volume is created where the pod goes. */
  readonly volume?: string;
  /** The extender handles it. */
  readonly managed?: true;
  /** Instead of the priority of its group. A replacement in a PodGroup of Kubernetes itself has that of its group. */
  readonly priority?: number;
  /** Name of a PodGroup of Kubernetes itself, in its spec besides the label of its group. A replacement has only the label. */
  readonly alsoIn?: string;
  /** It names a scheduler that does nothing. A replacement in a PodGroup of Kubernetes itself names ours. */
  readonly isForeign?: true;
  readonly neverPreempts?: true;
  /** Its grace period, and how long it takes to terminate. */
  readonly graceSeconds?: number;
  readonly endsInMs?: number;
  /** How long its finalizer stays after the deletion. */
  readonly heldMs?: number;
  /** A PodDisruptionBudget that matches it. */
  readonly budget?: string;
  /** It succeeds after that time. Absent: it runs until it is deleted. A replacement always does. */
  readonly runsMs?: number;
  /** What its annotation declares as its run time. */
  readonly runtime?: string;
  /** Its node ends it after that time. */
  readonly deadlineSeconds?: number;
}

/** A required term on the other members of the group. */
export interface TermPlan {
  readonly kind: 'apart' | 'together' | 'spread';
  readonly domain: 'node' | 'zone';
}

/** What the owner does about a member that was deleted or has failed. */
export type Recreation = 'never' | 'same-name' | 'new-name';

/** What makes a group one of Kubernetes itself, with pods that name it in their spec. */
export interface NativePlan {
  /** A gang needs `minMember` members to start; the pods of a basic group start one by one. */
  readonly policy: 'gang' | 'basic';
  /** Preemption evicts all members or none. */
  readonly goesWhole?: true;
}

export interface GroupPlan {
  /** Name in steps, and of its pods. */
  readonly name: string;
  /** Name of its PodGroup, if that is another. */
  readonly objectName?: string;
  /** Absent: its PodGroup is one of scheduling.x-k8s.io. */
  readonly native?: NativePlan;
  readonly minMember: number;
  readonly members: readonly MemberPlan[];
  readonly priority: number;
  /** Time between one member and the next. */
  readonly spacingMs: number;
  /** Delay of the group object after the first member; negative: before it. */
  readonly groupAfterMs: number;
  readonly recreation: Recreation;
  /** Time after which the owner recreates a lost member, at most. */
  readonly recreatesInMs?: number;
  /** Pods of one owner, without a group object. */
  readonly isLoose?: true;
  /** Terms of all members. */
  readonly terms?: readonly TermPlan[];
  /** Its members name the second profile, which packs them. */
  readonly packs?: true;
  /** Repair fields of its spec; absent: unset. */
  readonly repairPolicy?: 'Release' | 'KeepTrying';
  readonly repairGraceSeconds?: number;
}

export const tricks = [
  'leave-one',
  'bind-by-hand',
  'forge-annotations',
  'jump-the-queue',
  'gang-after-gang',
  'relabel',
  'remake-group',
  'raise-quorum',
] as const;
export type Trick = (typeof tricks)[number];

/** What a hostile tenant does: world/tenant.ts. */
export interface TenantPlan {
  readonly trick: Trick;
  /** Node whose capacity it wants. */
  readonly node: string;
  readonly milliCpu: number;
  readonly members: number;
  /** Its PodGroups are those of Kubernetes itself. */
  readonly isNative?: true;
}

/**
 * Something that happens in the cluster besides scheduling. A step does nothing if it no longer applies, for example because its pod is
 * gone.
 */
export type Step = { readonly at: number } & (
  | { readonly kind: 'create-group'; readonly group: GroupPlan }
  | { readonly kind: 'create-pod'; readonly name: string; readonly pod: MemberPlan; readonly priority: number }
  | { readonly kind: 'resize-group'; readonly group: string; readonly minMember: number }
  | { readonly kind: 'delete-group'; readonly group: string; readonly withMembers: boolean }
  | { readonly kind: 'remake-group'; readonly group: string }
  | { readonly kind: 'delete-member'; readonly group: string; readonly member: number }
  | { readonly kind: 'relabel-member'; readonly group: string; readonly member: number; readonly to: string }
  | { readonly kind: 'ungate'; readonly group: string }
  | {
      readonly kind: 'finish-member';
      readonly group: string;
      readonly member: number;
      readonly phase: 'Succeeded' | 'Failed';
    }
  | { readonly kind: 'nominate'; readonly group: string; readonly member: number; readonly node: string }
  | { readonly kind: 'resize-pod'; readonly group: string; readonly member: number; readonly milliCpu: number }
  | {
      readonly kind: 'foreign-pod';
      readonly node: string;
      readonly milliCpu: number;
      readonly forMs: number;
      /** The pod stays for good. */
      readonly stays?: true;
    }
  | { readonly kind: 'node-gone'; readonly node: string; readonly forMs: number }
  | { readonly kind: 'node-unready'; readonly node: string; readonly forMs: number }
  | { readonly kind: 'node-cordoned'; readonly node: string; readonly forMs: number }
  | { readonly kind: 'node-hangs'; readonly node: string; readonly forMs: number }
  | { readonly kind: 'set-budget'; readonly name: string; readonly allowed: number }
  | { readonly kind: 'forge-mark'; readonly group: string; readonly member: number }
  | { readonly kind: 'node-rejects'; readonly node: string; readonly pods: number }
  | { readonly kind: 'node-shrinks'; readonly node: string; readonly milliCpu: number; readonly forMs: number }
  | { readonly kind: 'crash'; readonly role: 'scheduler' | 'controller'; readonly downMs: number }
  | { readonly kind: 'pause'; readonly role: 'scheduler' | 'controller'; readonly forMs: number }
  | { readonly kind: 'clock-jump'; readonly role: 'scheduler' | 'controller'; readonly ms: number }
  | { readonly kind: 'tenant'; readonly plan: TenantPlan }
  | { readonly kind: 'native-api-gone'; readonly forMs: number }
  | { readonly kind: 'forget-history' }
  | { readonly kind: 'end-watches' }
);

/** The purpose of a call. `any` in a fault: any except Lease and watch. */
export type CallClass =
  'bind' | 'read' | 'verdict' | 'event' | 'list' | 'lease' | 'mark' | 'evict' | 'status' | 'other';

export const callFaults = [
  'reject-403',
  'reject-409',
  'reject-429',
  'reject-500',
  'reject-503',
  'done-500',
  'done-503',
  'lost-request',
  'lost-answer',
  'silent-request',
  'silent-answer',
  'slow-request',
  'slow-answer',
  'late-request',
  'waits-for-connection',
  'crash-before',
  'crash-after',
  'pause-before',
] as const;
export type CallFault = (typeof callFaults)[number];

export const watchFaults = [
  'cut',
  'cut-mid-line',
  'duplicate',
  'half-open',
  'lag',
  'expired',
  'reject-open-410',
  'reject-open-500',
] as const;
export type WatchFault = (typeof watchFaults)[number];

/** `nativepodgroups`: the PodGroups of Kubernetes itself. */
export type WatchedResource = 'pods' | 'nodes' | 'podgroups' | 'nativepodgroups';

export type Fault =
  | {
      readonly on: 'call';
      readonly role: 'scheduler' | 'controller';
      readonly of: CallClass | 'any';
      /** Only calls about the pod of that name count. */
      readonly pod?: string;
      /** The nth call of this kind by that role, from 0. */
      readonly nth: number;
      readonly kind: CallFault;
      readonly ms: number;
    }
  | {
      readonly on: 'watch';
      readonly role: 'scheduler' | 'controller';
      readonly resource: WatchedResource;
      /** Only watches of the instance of that name count. */
      readonly process?: string;
      /** The nth line, or the nth opening, of that role and resource. */
      readonly nth: number;
      /** Instead of the nth: the first one from this time on. */
      readonly notBefore?: number;
      readonly kind: WatchFault;
      readonly ms: number;
    }
  | {
      readonly on: 'outage';
      readonly role: 'scheduler' | 'controller';
      readonly from: number;
      readonly to: number;
      readonly kind: 'reject-429' | 'reject-500' | 'reject-503' | 'done-500' | 'lost-request' | 'lost-answer';
      /** Share of the calls that it strikes. */
      readonly share: number;
    };

/** Returns the name of a fault or step, as coverage counts them. */
export function nameOf(happening: Fault | Step): string {
  if ('on' in happening) return `${happening.on}/${happening.kind}`;
  return happening.kind === 'tenant' ? `trick/${happening.plan.trick}` : `step/${happening.kind}`;
}

/** Maximum duration of a trick. */
const trickMs = 30_000;

export const maxYieldMs = 2;
/**
 * Maximum duration of an attempt with all its yields and everything that was deferred. Events for the process wait while an attempt is
 * open.
 */
export const longestAttemptMs = 2_000;

/** PreBind and the extender fail until then. */
export const volumesFailForMs = 15_000;

/** Returns when the last step and outage are over; faults on calls and watches strike no later. */
export function calmFrom({ steps, faults, scheduler, extender, faultsUntil = 0 }: Scenario): number {
  const doesFail = scheduler.preBindMs > 0 || extender !== undefined;
  let calm = Math.max(faultsUntil, doesFail ? volumesFailForMs : 0);
  for (const step of steps) {
    const lastsMs = 'forMs' in step ? step.forMs : 'downMs' in step ? step.downMs : 0;
    if (step.kind === 'tenant') calm = Math.max(calm, step.at + trickMs);
    const comingMs =
      step.kind === 'create-group'
        ? step.group.members.length * step.group.spacingMs + Math.max(0, step.group.groupAfterMs)
        : 0;
    calm = Math.max(calm, step.at + lastsMs + comingMs);
  }
  for (const fault of faults) calm = Math.max(calm, fault.on === 'outage' ? fault.to : 0);
  return calm;
}
