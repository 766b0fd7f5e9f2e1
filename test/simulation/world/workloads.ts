import { hasEnded, plainPod } from '../checks/plain-objects.ts';
import type { PlainPod } from '../checks/plain-objects.ts';
import type { GroupPlan, MemberPlan } from '../scenario.ts';
import type { Disks } from './disks.ts';
import { groupManifest, groupsPathOf, podManifest, podsPath } from './manifests.ts';
import { share } from './mix.ts';
import type { Plane } from './plane.ts';
import type { Committed } from './record.ts';
import { foreignName, packingName, schedulerName } from './start-scheduler.ts';
import type { Timeline } from './timeline.ts';

interface Workload {
  readonly plan: GroupPlan;
  /** Reports whether it recreates lost members. */
  isAlive: boolean;
  made: number;
  /** index of the member -> name of its current pod */
  readonly names: Map<number, string>;
}

/** Simulates the owners of the groups, which create and recreate members. */
export class Workloads {
  readonly #plane: Plane;
  readonly #timeline: Timeline;
  readonly #seed: number;
  readonly #disks: Pick<Disks, 'claim'>;
  /** group name -> its workload */
  readonly #workloads = new Map<string, Workload>();
  /** name of a pod -> its owner */
  readonly #owners = new Map<string, Workload>();
  /** uids whose loss has been handled */
  readonly #lost = new Set<string>();
  #recreatesUntil = 0;

  constructor(options: {
    readonly plane: Plane;
    readonly timeline: Timeline;
    readonly seed: number;
    readonly disks: Pick<Disks, 'claim'>;
  }) {
    this.#plane = options.plane;
    this.#timeline = options.timeline;
    this.#seed = options.seed;
    this.#disks = options.disks;
    this.#plane.subscribe((committed) => this.#changed(committed));
  }

  /** Latest time at which it recreates a lost member, as far as it is known now. */
  get recreatesUntil(): number {
    return this.#recreatesUntil;
  }

  create(plan: GroupPlan): void {
    const workload: Workload = { plan, isAlive: true, made: 0, names: new Map() };
    this.#workloads.set(plan.name, workload);
    const { groupAfterMs, spacingMs, members } = plan;
    this.#timeline.after(Math.max(0, groupAfterMs), () => this.remake(plan.name));
    members.forEach((_, place) => {
      this.#timeline.after(Math.max(0, -groupAfterMs) + place * spacingMs, () => this.#make(workload, place));
    });
  }

  /** Recreates the group object as it was at first. */
  remake(group: string): void {
    const workload = this.#workloads.get(group);
    if (workload?.isAlive !== true || workload.plan.isLoose === true) return;
    this.#plane.send('POST', groupsPathOf(workload.plan), groupManifest(workload.plan));
  }

  planOf(group: string): GroupPlan | undefined {
    return this.#workloads.get(group)?.plan;
  }

  end(group: string): void {
    const workload = this.#workloads.get(group);
    if (workload === undefined) return;
    workload.isAlive = false;
    for (const name of workload.names.values()) this.#plane.send('DELETE', `${podsPath}/${name}`);
  }

  /** Returns the pod of the member index; undefined when there is none. */
  member(group: string, place: number): PlainPod | undefined {
    const workload = this.#workloads.get(group);
    const name = workload?.names.get(place % Math.max(1, workload.plan.members.length));
    const object = name === undefined ? undefined : this.#plane.record.get('pods', `default/${name}`);
    return object && plainPod(object);
  }

  membersOf(group: string): readonly PlainPod[] {
    const count = this.#workloads.get(group)?.plan.members.length ?? 0;
    return Array.from({ length: count }, (_, place) => this.member(group, place)).filter((pod) => pod !== undefined);
  }

  #make(workload: Workload, place: number): void {
    if (!workload.isAlive) return;
    const { plan } = workload;
    const isAgain = workload.names.has(place);
    const name =
      isAgain && plan.recreation === 'new-name' ? `${plan.name}-${place}-${++workload.made}` : `${plan.name}-${place}`;
    workload.names.set(place, name);
    this.#owners.set(name, workload);
    // A replacement does not hold its node like its predecessor: otherwise preemptions would expire for ever.
    // Nor does it end by itself: otherwise an owner would recreate pods that exceed their deadline for ever.
    const { heldMs: _, runsMs: _runs, runtime: _runtime, deadlineSeconds: _deadline, ...member } = plan.members[place]!;
    // A replacement gets the claim of its predecessor.
    const claim = member.volume === undefined ? undefined : `${plan.name}-${place}`;
    if (claim !== undefined) this.#disks.claim(claim, member.volume!);
    const { priority: _priority, alsoIn: _alsoIn, isForeign: _isForeign, ...fitting } = member;
    const again = { ...(plan.native === undefined ? { ...member, alsoIn: undefined } : fitting), gated: false };
    const made: MemberPlan = isAgain ? again : plan.members[place]!;
    const ours = plan.packs === true ? packingName : schedulerName;
    const manifest = podManifest(name, made, {
      schedulerName: made.isForeign === true ? foreignName : ours,
      priority: plan.priority,
      group: plan,
      ...(claim !== undefined && { claim }),
    });
    this.#plane.send('POST', podsPath, manifest);
  }

  #changed({ resource, type, object }: Committed): void {
    if (resource !== 'pods') return;
    const pod = plainPod(object);
    if (type !== 'DELETED' && pod.phase !== 'Failed') return;
    const workload = pod.key === `default/${pod.name}` ? this.#owners.get(pod.name) : undefined;
    if (workload?.isAlive !== true || workload.plan.recreation === 'never') return;
    const place = [...workload.names].find(([, name]) => name === pod.name)?.[0];
    if (place === undefined || (type === 'DELETED' && pod.phase === 'Succeeded')) return;
    if (this.#lost.has(pod.uid) && (type !== 'DELETED' || workload.plan.recreation === 'new-name')) return;
    this.#lost.add(pod.uid);
    const { recreatesInMs: inMs = 400 + 1_200 * share(this.#seed, 23, this.#timeline.count) } = workload.plan;
    this.#recreatesUntil = Math.max(this.#recreatesUntil, this.#timeline.now + inMs);
    if (type === 'DELETED' || workload.plan.recreation === 'new-name') {
      this.#timeline.after(inMs, () => this.#make(workload, place));
    } else if (hasEnded(pod)) {
      // A pod of the same name can only be created after this one is gone.
      this.#timeline.after(inMs, () =>
        this.#plane.send('DELETE', `${podsPath}/${pod.name}`, { gracePeriodSeconds: 0 }),
      );
    }
  }
}
