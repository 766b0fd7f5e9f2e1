import type { Call } from '../world/call.ts';
import { CapacityOfOthers } from './capacity-of-others.ts';
import type { Obstacles } from './capacity-of-others.ts';
import type { Checker, Evidence } from './evidence.ts';
import { groupNamed, groupsIn, podsIn, tallyOf } from './plain-group.ts';
import { isOpen } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';

/**
 * Maximum Bindings of one pod within `windowMs`. The scheduler sends a Binding with an unknown outcome up to 16 times with back-off, and
 * the next plan does the same.
 */
const maxBindings = 24;
const windowMs = 10_000;

/**
 * I9: no pod is bound repeatedly without back-off. In a long quiet period the scheduler sends no Binding and no eviction. It writes at most
 * one message per pod and group, because the queue's periodic flush may find a new reason. Members of a partially bound gang get one more when
 * its grace period ends. The flush may also place a group whose members fit, but the planner may not find how: then the rest of the run is not
 * quiet.
 */
export class BoundedWorkChecker implements Checker {
  readonly #evidence: Evidence;
  /** path of the Binding -> times of recent sends */
  readonly #bindings = new Map<string, number[]>();
  #isQuiet = false;
  /** write in a quiet period -> how often it was sent since its last conflict */
  readonly #writes = new Map<string, number>();

  readonly #obstacles: Obstacles;

  constructor(evidence: Evidence, obstacles: Obstacles) {
    this.#evidence = evidence;
    this.#obstacles = obstacles;
  }

  sent(call: Call): void {
    const { of, request } = call;
    if (of === 'bind') this.#bound(request.path);
    if (!this.#isQuiet || of === 'lease' || of === 'event' || request.method === 'GET') return;
    if (of === 'bind' && this.#isFoundByChance(request.path)) {
      this.#evidence.excused('bound in a quiet period: its members fit, but the planner may not find how');
      this.#isQuiet = false;
      return;
    }
    const what = writeOf(call);
    const count = (this.#writes.get(what) ?? 0) + 1;
    this.#writes.set(what, count);
    const expected = this.#isOfPartialGang(request.path) ? 2 : 1;
    if ((of === 'verdict' || of === 'status') && count <= expected) return;
    // The controller records the versions of groups that it has seen in their status.
    this.#evidence.violated('I9', `${what}, although nothing has happened for a long time`);
  }

  /** The object changed in a field that scheduling ignores while the write was in flight, so the sender repeats the write. */
  done(call: Call): void {
    if (call.status === 409) this.#writes.delete(writeOf(call));
  }

  quiet(): void {
    this.#isQuiet = true;
  }

  ended(attempts: number): void {
    if (!this.#isQuiet) return;
    const { record, started } = this.#evidence;
    const open = podsIn(record).filter((pod) => isOpen(pod));
    // Members are tried together, or one by one once the group has its quorum.
    const isOneOfMany = ({ group }: PlainPod): boolean => {
      const known = group === undefined ? undefined : groupNamed(record, group);
      return known !== undefined && !started.has(known.uid);
    };
    const entities = new Set(open.map((pod) => (isOneOfMany(pod) ? pod.group : pod.key))).size;
    const partial = groupsIn(record).filter((group) => this.#isPartial(group)).length;
    // The periodic flush may retry each entity once.
    if (attempts <= 1 + entities + partial) return;
    const what = `${attempts} attempts for ${entities} waiting entities`;
    this.#evidence.violated('I9', `${what}, although no relevant event has happened`);
  }

  /** Reports whether the path is that of the status of a member of a partially bound gang. */
  #isOfPartialGang(path: string): boolean {
    const { record } = this.#evidence;
    const pod = podsIn(record).find(({ name }) => path.endsWith(`/pods/${name}/status`));
    const group = pod?.group === undefined ? undefined : groupNamed(record, pod.group);
    return group !== undefined && this.#isPartial(group);
  }

  #isPartial(group: PlainGroup): boolean {
    const { record, started } = this.#evidence;
    const { bound } = tallyOf(group, podsIn(record));
    return !started.has(group.uid) && bound.length > 0 && bound.length < group.minMember;
  }

  /** Reports whether the Binding is for a member of a group that fits, although the planner's order may not find how. */
  #isFoundByChance(path: string): boolean {
    const { record } = this.#evidence;
    const pods = podsIn(record);
    const pod = pods.find(({ name }) => path.endsWith(`/${name}/binding`));
    const group = pod?.group === undefined ? undefined : groupNamed(record, pod.group);
    if (group === undefined) return false;
    const members = pods.filter((each) => isOpen(each) && each.group === group.name);
    const missing = group.minMember - tallyOf(group, pods).bound.length;
    const capacity = new CapacityOfOthers(this.#evidence, this.#obstacles).without(members);
    return capacity.arrangement(members, missing) === 'fits' && capacity.isFound(members, missing) !== true;
  }

  #bound(path: string): void {
    const now = this.#evidence.now();
    const times = (this.#bindings.get(path) ?? []).filter((at) => at > now - windowMs);
    times.push(now);
    this.#bindings.set(path, times);
    if (times.length === maxBindings + 1) {
      this.#evidence.violated('I9', `${times.length} Bindings of one pod within ${windowMs / 1000} s: ${path}`);
    }
  }
}

function writeOf({ process, request }: Call): string {
  return `${process.name} ${request.method} ${request.path}`;
}
