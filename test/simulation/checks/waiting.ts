import type { Call } from '../world/call.ts';
import { CurrentWriter } from './current-writer.ts';
import type { Checker, Evidence } from './evidence.ts';
import { PlainRoom, formOf } from './plain-fit.ts';
import { barredNodes, keptRooms } from './plain-losses.ts';
import type { KeptRoom } from './plain-losses.ts';
import { isOpen } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';
import { groupNamed, podsIn, saysWhetherStarted, takenRoom, tallyOf, usableNodes } from './plain-group.ts';

/** From when room is free again until all who wait have been tried. */
const restMs = 15_000;

/**
 * When everything has come to rest: whoever waits does so for a reason (I5: nobody is forgotten who fits, whole, on what the API shows), and
 * the pod says which (I7).
 */
export class WaitingChecker implements Checker {
  readonly #evidence: Evidence;
  readonly #schedulerName: string;
  readonly #forbiddenNode: string | undefined;
  readonly #forbiddenPods: readonly string[];
  readonly #writer: CurrentWriter;

  constructor(
    evidence: Evidence,
    {
      schedulerName,
      forbiddenNode,
      forbiddenPods = [],
    }: {
      readonly schedulerName: string;
      readonly forbiddenNode: string | undefined;
      readonly forbiddenPods: readonly string[] | undefined;
    },
  ) {
    this.#evidence = evidence;
    this.#schedulerName = schedulerName;
    this.#forbiddenNode = forbiddenNode;
    this.#forbiddenPods = forbiddenPods;
    this.#writer = new CurrentWriter(evidence.now);
  }

  sent(call: Call): void {
    this.#writer.sent(call);
  }

  settled(): number | undefined {
    const { record, started } = this.#evidence;
    const past = { now: this.#evidence.now(), toldBy: this.#evidence.toldBy() };
    const kept = keptRooms(record, started, past);
    const barred = barredNodes(record, past);
    let again: number | undefined;
    const pods = podsIn(record);
    const ours = pods.filter((pod) => isOpen(pod) && pod.schedulerName === this.#schedulerName);
    for (const pod of ours) this.#hasVerdict(pod);
    const open = ours.filter(({ name }) => !this.#forbiddenPods.includes(name));
    const others = (waiting: readonly PlainPod[]): PlainPod[] => pods.filter((pod) => !waiting.includes(pod));
    const room = (waiting: readonly PlainPod[], more: readonly (readonly [PlainPod, string])[] = []): PlainRoom =>
      new PlainRoom(usableNodes(record, this.#forbiddenNode), [...takenRoom(others(waiting)), ...more]);
    /** They wait although they fit: for room that is kept for lost members of others, or for nodes that do not take them? */
    const isExplained = (waiting: readonly PlainPod[], needed: number): boolean => {
      const keptFromThem = kept.filter(({ group }) => group !== waiting[0]!.group);
      const forms = waiting.map(formOf);
      const barredToThem = barred.filter(({ form }) => forms.includes(form));
      const ends = [...keptFromThem, ...barredToThem].map(({ until }) => until);
      if (ends.length === 0) return false;
      const isKept =
        keptFromThem.length > 0 && !this.#fitsBeside(keptFromThem, (more) => room(waiting, more), waiting, needed);
      const open = usableNodes(record, this.#forbiddenNode).filter(
        ({ name }) => !barredToThem.some(({ node }) => node === name),
      );
      const isBarred = !new PlainRoom(open, takenRoom(others(waiting))).takesAnyhow(waiting, needed);
      if (!isKept && !isBarred) return false;
      this.#evidence.excused(
        isKept ? 'waits: room is kept for lost members' : 'waits: a node has not admitted such pods',
      );
      again = Math.max(again ?? 0, ...ends.map((end) => end + restMs));
      return true;
    };
    const byGroup = new Map<string | undefined, PlainPod[]>();
    for (const pod of open) byGroup.set(pod.group, [...(byGroup.get(pod.group) ?? []), pod]);
    for (const [name, members] of byGroup) {
      const group = name === undefined ? undefined : groupNamed(record, name);
      if (name !== undefined && group === undefined) continue;
      const tally = group && tallyOf(group, pods);
      const counted =
        (tally?.bound.length ?? 0) + (group !== undefined && started.has(group.uid) ? tally!.succeeded : 0);
      const missing = (group?.minMember ?? 0) - counted;
      if (missing > members.length) continue;
      if (missing > 0) {
        if (!room(members).takesTogether(members, missing)) continue;
        if (tally!.succeeded > 0 && this.#isTakenForNew(group!)) {
          this.#evidence.excused('waits: a new leader is not told that it has started');
          continue;
        }
        if (!room(members).takesAnyhow(members, missing)) {
          // Members of different kinds are placed by a heuristic, which may miss the one way that there is.
          this.#evidence.excused('waits: its members are of different kinds, and fit in some ways only');
        } else if (!isExplained(members, missing)) {
          this.#evidence.violated(
            'I5',
            `group ${name} waits, though ${missing} of its members fit: ${said(members[0]!)}`,
          );
        }
        continue;
      }
      for (const pod of members) {
        if (room([pod]).takesTogether([pod], 1) && !isExplained([pod], 1)) {
          this.#evidence.violated('I5', `pod ${pod.name} waits, though it fits: ${said(pod)}`);
        }
      }
    }
    return again;
  }

  /** Neither the condition nor who was there when it began told the scheduler that the group had its quorum once. */
  #isTakenForNew(group: PlainGroup): boolean {
    const { record } = this.#evidence;
    const { since } = this.#writer;
    if (since === undefined || saysWhetherStarted(group)) return false;
    const version = record.changes.findLast(({ at }) => at <= since)?.version ?? 0;
    return !tallyOf(group, podsIn(record, { pods: version, nodes: version, podgroups: version })).isWhole;
  }

  /** Wherever on its own node or another that room is. */
  #fitsBeside(
    kept: readonly KeptRoom[],
    room: (more: readonly (readonly [PlainPod, string])[]) => PlainRoom,
    waiting: readonly PlainPod[],
    needed: number,
    placed: readonly (readonly [PlainPod, string])[] = [],
  ): boolean {
    const [first, ...rest] = kept;
    if (first === undefined) return room(placed).takesAnyhow(waiting, needed);
    const nodes = usableNodes(this.#evidence.record, undefined).map(({ name }) => name);
    return nodes
      .filter((name) => name === first.lost.node || room(placed).takes(first.lost, name))
      .every((name) => this.#fitsBeside(rest, room, waiting, needed, [...placed, [first.lost, name]]));
  }

  #hasVerdict(pod: PlainPod): void {
    if (pod.scheduled?.status === 'False' && pod.scheduled.message !== '' && pod.scheduled.reason !== 'SchedulingGated')
      return;
    this.#evidence.violated('I7', `pod ${pod.name} waits, and nobody says why: ${said(pod)}`);
  }
}

function said({ scheduled }: PlainPod): string {
  return scheduled === undefined ? 'nothing is said of it' : `${scheduled.reason}: ${scheduled.message}`;
}
