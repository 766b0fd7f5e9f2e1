import { groupNameIn, isOnNode, plainNode, plainPod } from '../checks/plain-objects.ts';
import type { PlainPod } from '../checks/plain-objects.ts';
import type { NativePlan, TenantPlan, Trick } from '../scenario.ts';
import { groupManifest, groupsPathIn, podManifest, podsPathIn, resized, tenantNamespace } from './manifests.ts';
import type { Plane } from './plane.ts';
import { schedulerName } from './start-scheduler.ts';
import type { Timeline } from './timeline.ts';

/** How often the tenant looks whether its members are bound, and for how long. */
const lookMs = 250;
const looks = 40;
/** The longest grace that a PodGroup can name. */
const endlessSeconds = 2_147_483_647;

const podsPath = podsPathIn(tenantNamespace);

/**
 * A hostile tenant: it may do anything with pods and PodGroups in one namespace. Each trick tries to hold capacity that no pod of it uses, or
 * to get it before pods of a higher priority.
 */
export class Tenant {
  readonly #plane: Plane;
  readonly #timeline: Timeline;
  #groups = 0;
  /** Absent: its PodGroups are those of scheduling.x-k8s.io. */
  #native: NativePlan | undefined;

  constructor(options: { readonly plane: Plane; readonly timeline: Timeline }) {
    this.#plane = options.plane;
    this.#timeline = options.timeline;
  }

  play(plan: TenantPlan): void {
    this.#native = plan.isNative === true ? { policy: 'gang' } : undefined;
    tricks[plan.trick].call(this, plan);
  }

  /** Creates a group that asks for an endless grace period. Returns its name. */
  group(minMember: number): string {
    const name = `gang-${++this.#groups}`;
    this.groupNamed(name, minMember);
    return name;
  }

  groupNamed(name: string, minMember: number): void {
    const plan = { ...this.#kind, name, minMember, repairGraceSeconds: endlessSeconds };
    this.#plane.send('POST', this.#groupsPath, groupManifest(plan));
  }

  resize(group: string, minMember: number): void {
    this.#plane.send('PATCH', `${this.#groupsPath}/${group}`, resized(this.#kind, minMember));
  }

  endGroup(group: string): void {
    this.#plane.send('DELETE', `${this.#groupsPath}/${group}`);
  }

  /** Creates members; with `isByHand` on the node, without asking a scheduler. */
  members(
    group: string,
    { node, milliCpu, members }: TenantPlan,
    { isByHand = false, forgedQuorum = 0, count = members, cpu = milliCpu } = {},
  ): void {
    const zone = this.#zoneOf(node);
    for (let i = 0; i < count; i++) {
      const member = { milliCpu: cpu, mebibytes: 1, ...(zone !== undefined && { zone }) };
      const manifest: any = podManifest(`${group}-${i}${isByHand ? '-by-hand' : ''}`, member, {
        schedulerName,
        priority: 0,
        group: { ...this.#kind, name: group, recreation: 'never' },
      });
      if (isByHand) manifest.spec.nodeName = node;
      if (forgedQuorum > 0) {
        manifest.metadata.annotations = {
          'tutti.dev/pod-group-uid': this.#uidOf(group),
          'tutti.dev/plan': 'scheduler-1-1',
          'tutti.dev/quorum': String(forgedQuorum),
        };
      }
      this.#plane.send('POST', podsPath, manifest);
    }
  }

  /** Calls back once all members of the group are bound; never if that takes too long. */
  whenBound(group: string, count: number, then: () => void, left = looks): void {
    this.#timeline.after(lookMs, () => {
      if (this.membersOf(group).filter(isOnNode).length >= count) then();
      else if (left > 0) this.whenBound(group, count, then, left - 1);
    });
  }

  membersOf(group: string): PlainPod[] {
    const name = groupNameIn(tenantNamespace, group, this.#native !== undefined);
    return [...this.#plane.record.all('pods')].map(plainPod).filter((pod) => pod.group === name);
  }

  /** Deletes all members but one, so that the group keeps a bound member. */
  leaveOne(group: string): void {
    for (const { name } of this.membersOf(group).slice(1)) {
      this.#plane.send('DELETE', `${podsPath}/${name}`, { gracePeriodSeconds: 0 });
    }
  }

  relabel(pod: PlainPod, group: string): void {
    const labels = { 'scheduling.x-k8s.io/pod-group': group };
    this.#plane.send('PATCH', `${podsPath}/${pod.name}`, { metadata: { labels } });
  }

  after(ms: number, then: () => void): void {
    this.#timeline.after(ms, then);
  }

  get #kind(): { readonly native?: NativePlan } {
    return this.#native === undefined ? {} : { native: this.#native };
  }

  get #groupsPath(): string {
    return groupsPathIn(tenantNamespace, this.#native !== undefined);
  }

  #zoneOf(name: string): string | undefined {
    const object = this.#plane.record.get('nodes', `/${name}`);
    return object && plainNode(object).zone;
  }

  #uidOf(group: string): string {
    const resource = this.#native === undefined ? 'podgroups' : 'nativepodgroups';
    const object: any = this.#plane.record.get(resource, `${tenantNamespace}/${group}`);
    return object?.metadata.uid ?? 'unknown';
  }
}

const tricks: Readonly<Record<Trick, (this: Tenant, plan: TenantPlan) => void>> = {
  /** Starts a gang and deletes all members but one: what they used stays reserved. */
  'leave-one'(plan) {
    const group = this.group(plan.members);
    this.members(group, plan);
    this.whenBound(group, plan.members, () => this.leaveOne(group));
  },
  /** The same with members that no scheduler bound. */
  'bind-by-hand'(plan) {
    const group = this.group(plan.members);
    this.members(group, plan, { isByHand: true });
    this.whenBound(group, plan.members, () => this.after(1_000, () => this.leaveOne(group)));
  },
  /** The same with annotations as our Bindings leave them. */
  'forge-annotations'(plan) {
    const group = this.group(plan.members);
    this.after(50, () => {
      this.members(group, plan, { isByHand: true, forgedQuorum: 1 });
      this.whenBound(group, plan.members, () => this.after(1_000, () => this.leaveOne(group)));
    });
  },
  /** Binds one small member, so that the gang is partially bound and may want to go first. */
  'jump-the-queue'(plan) {
    const group = this.group(plan.members + 1);
    this.after(50, () => {
      const forgedQuorum = plan.members % 2 === 0 ? plan.members + 1 : 0;
      this.members(group, plan, { isByHand: true, forgedQuorum, count: 1, cpu: 1 });
      this.members(group, plan);
    });
  },
  /** Starts gang after gang with the same capacity, each of which leaves one member. */
  'gang-after-gang'(plan) {
    const next = (left: number): void => {
      const group = this.group(plan.members);
      this.members(group, plan);
      this.whenBound(group, plan.members, () => {
        this.leaveOne(group);
        if (left > 0) next(left - 1);
      });
    };
    next(2);
  },
  /** Moves bound members to another group, which then loses them. */
  relabel(plan) {
    const group = this.group(plan.members);
    this.members(group, plan);
    this.whenBound(group, plan.members, () => {
      const other = this.group(plan.members);
      for (const pod of this.membersOf(group)) this.relabel(pod, other);
      this.after(1_000, () => this.leaveOne(other));
    });
  },
  /** Replaces the group object of bound members by one that needs more, and then deletes members. */
  'remake-group'(plan) {
    const group = this.group(plan.members);
    this.members(group, plan);
    this.whenBound(group, plan.members, () => {
      this.endGroup(group);
      this.after(500, () => this.groupNamed(group, 2 * plan.members));
      this.after(1_500, () => this.leaveOne(group));
    });
  },
  /** Raises the quorum of a started gang and deletes members: more are missing than it ever had. */
  'raise-quorum'(plan) {
    const group = this.group(plan.members);
    this.members(group, plan);
    this.whenBound(group, plan.members, () => {
      this.resize(group, 5 * plan.members);
      this.after(500, () => this.leaveOne(group));
    });
  },
};
