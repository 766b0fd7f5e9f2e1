import { BoundedWorkChecker } from './checks/bounded-work.ts';
import type { Checker, Evidence, Violation } from './checks/evidence.ts';
import { GroupStatusChecker } from './checks/group-status.ts';
import { NativeConditionChecker } from './checks/native-condition.ts';
import { OneWriterChecker } from './checks/one-writer.ts';
import { OverCommitChecker } from './checks/over-commit.ts';
import { PartialGroupChecker } from './checks/partially-bound-gangs.ts';
import { groupNamed, podsIn, tallyOf } from './checks/plain-group.ts';
import { isOpen, plainGroup, plainPod } from './checks/plain-objects.ts';
import type { PlainPod } from './checks/plain-objects.ts';
import { PriorityChecker } from './checks/priority.ts';
import { QuorumChecker } from './checks/quorum.ts';
import { ReceivedStarts } from './checks/received-starts.ts';
import { PreemptionChecker } from './checks/preemptions.ts';
import type { PreemptionCounts } from './checks/preemption-tally.ts';
import { TurnChecker } from './checks/turns.ts';
import { WaitingChecker } from './checks/waiting.ts';
import { releasesIn } from './checks/plain-gang-evictions.ts';
import { ReleaseChecker } from './checks/gang-evictions.ts';
import { SlowBindingChecker } from './checks/slow-bindings.ts';
import { baseMs, longestLagMs, settlingMs } from './settling.ts';
import type { FaultPlaces } from './world/faults.ts';
import type { Scenario } from './scenario.ts';
import type { StoreRecord } from './world/record.ts';
import { schedulerNames } from './world/start-scheduler.ts';
import type { LoggedLine, StartedScheduler } from './world/start-scheduler.ts';
import { startMs } from './world/process.ts';
import { World } from './world/world.ts';
import { addCounts } from './batch.ts';

export interface Outcome {
  readonly violations: readonly Violation[];
  /** Digest of all commits in order: equal runs have equal digests. */
  readonly digest: string;
  /** fault or step -> how often it happened */
  readonly struck: Readonly<Record<string, number>>;
  /** reason -> how often it was used */
  readonly excused: Readonly<Record<string, number>>;
  /** strategy -> number of plans of gangs that it made and that were bound */
  readonly placedBy: Readonly<Record<string, number>>;
  /** What happened to preemptions -> how often. */
  readonly preempted: Readonly<PreemptionCounts>;
  /** What happened to reservations with a predicted start -> how often. */
  readonly reserved: Readonly<Record<string, number>>;
  /** Calls and watch lines on which a fault can be put. */
  readonly places: FaultPlaces;
  readonly turns: number;
  /** Virtual time. */
  readonly lastedMs: number;
}

/**
 * How long messages are still updated after the last event. A message whose cause is unchanged is rewritten after a minute, and every half
 * minute the scheduler looks again at verdicts that are a minute old.
 */
const lastWordsMs = 110_000;
/** Length of the quiet period that follows; the periodic flush of the queue may update one more message in it. */
const quietMs = 20_000;
/** Number of writes in that period to fields that scheduling ignores. */
const pokes = 3;
/** Turn limit; a run that takes more turns is in a loop. */
const maxTurns = 40_000;
/** A group that is released more often than this is repeatedly partially bound. */
const maxReleases = 4;

export interface RunOptions {
  /** Gets a line for each thing that happens. */
  readonly trace?: (line: string) => void;
  /** Ends the run once the cluster has settled, without checking that it stays quiet. Default: false. */
  readonly endsAtRest?: boolean;
  /** Looks at the schedulers while they run. It may only read. */
  readonly watch?: {
    readonly started: StartedScheduler;
    /** Gets the log lines of the schedulers. */
    readonly logged?: LoggedLine;
    /** Something was committed to the API server. `started`: uids of the groups that have started. */
    readonly committed: (record: StoreRecord, started: ReadonlySet<string>) => void;
    /** The cluster has settled, and all schedulers that run have received everything. */
    readonly settled?: (record: StoreRecord, started: ReadonlySet<string>) => void;
  };
}

/** Runs a scenario to its end, or to the first violation. Deterministic. */
export async function runScenario(
  scenario: Scenario,
  { trace, endsAtRest = false, watch }: RunOptions = {},
): Promise<Outcome> {
  const violations: Violation[] = [];
  const excused: Record<string, number> = {};
  const started = new Set<string>();
  let checkers: Checker[] = [];
  const world = new World({
    scenario,
    trace,
    started: watch?.started,
    logged: watch?.logged,
    observer: {
      sent: (call) => {
        starts.sent(call);
        checkers.forEach((checker) => checker.sent?.(call));
      },
      done: (call) => checkers.forEach((checker) => checker.done?.(call)),
    },
  });
  const { record } = world.plane;
  const starts = new ReceivedStarts(record);
  const settling = (): number => settlingMs(scenario, world.faults.struck);
  const evidence: Evidence = {
    record,
    now: () => world.timeline.now,
    seenBy: () => world.disturbedUntil + settling() - baseMs,
    promptFrom: () => world.undisturbedFrom + settling() - baseMs,
    lagMs: () => longestLagMs(scenario, world.faults.struck),
    knownFrom: () => world.oldestStart('scheduler'),
    started,
    isStartMissed: (group) => starts.areMissed(group),
    violated: (invariant, what) => {
      trace?.(`${world.timeline.now.toFixed(0)} VIOLATED ${invariant}: ${what}`);
      violations.push({ invariant, at: world.timeline.now, what });
    },
    excused: (reason) => {
      excused[reason] = (excused[reason] ?? 0) + 1;
    },
  };
  world.plane.subscribe((committed) => {
    const { resource, object } = committed;
    const name =
      resource === 'pods'
        ? plainPod(object).group
        : resource.startsWith('podgroups')
          ? plainGroup(object).name
          : undefined;
    if (name !== undefined) noteStart(record, name, started);
    for (const checker of checkers) checker.committed?.(committed);
    watch?.committed(record, started);
  });
  const { reservations } = scenario.scheduler;
  const obstacles = {
    forbiddenNode: scenario.forbiddenNode,
    refused: scenario.extender?.refused,
    areZonesPools: reservations?.poolLabel !== undefined,
    wereNativeGroupsHidden: (from = 0, to = Infinity): boolean =>
      scenario.steps.some((step) => step.kind === 'native-api-gone' && step.at <= to && step.at + step.forMs >= from),
  };
  const isRateLimited = scenario.scheduler.qps < 10;
  // A pod avoids nodes where PreBind failed for it twice. No call shows that.
  const isUnclear = isRateLimited
    ? 'the state at the decision is unknown, because calls wait in the rate limiter'
    : scenario.scheduler.preBindMs > 0
      ? 'PreBind may have failed on the node'
      : undefined;
  const areDelayed = (): boolean => isRateLimited || world.faults.struck.has('call/waits-for-connection');
  const areClocksWrong = (): boolean => world.faults.struck.has('step/clock-jump');
  const preemptions = new PreemptionChecker(evidence, obstacles, isUnclear, areClocksWrong, areDelayed);
  const turns =
    reservations &&
    new TurnChecker(evidence, {
      obstacles,
      schedulerNames: reservations.isForOneProfile === true ? schedulerNames.slice(0, 1) : schedulerNames,
      drainAfterMs: reservations.drainAfterMs,
      bindingMs: 1_000 + scenario.scheduler.permitMs,
      epochMs: startMs,
      calmFrom: () => (world.undisturbedFrom === 0 ? 0 : evidence.promptFrom()),
      isUnclear: () =>
        isUnclear ??
        (areClocksWrong() ? 'a clock has jumped' : undefined) ??
        (scenario.forbiddenNode !== undefined || scenario.extender !== undefined
          ? 'a node or an extender rejects pods'
          : undefined),
    });
  checkers = [
    new QuorumChecker(evidence, areDelayed, scenario.scheduler.permitMs + scenario.scheduler.preBindMs),
    new OverCommitChecker(evidence),
    new OneWriterChecker(evidence),
    new BoundedWorkChecker(evidence, obstacles),
    new ReleaseChecker(evidence, obstacles, isUnclear, areClocksWrong),
    new SlowBindingChecker(evidence, isRateLimited),
    preemptions,
    new PriorityChecker(evidence, schedulerNames, obstacles),
    new PartialGroupChecker(evidence, obstacles),
    new WaitingChecker(evidence, { ...obstacles, schedulerNames, forbiddenPods: scenario.forbiddenPods }),
    ...(turns === undefined ? [] : [turns]),
    new NativeConditionChecker(evidence, { schedulerNames, hasController: scenario.hasController }),
    ...(scenario.hasController ? [new GroupStatusChecker(evidence)] : []),
  ];
  try {
    await world.open();
    const continues = async (until: () => number): Promise<boolean> => {
      while (world.timeline.now < until()) {
        if (!(await world.runUntil(until(), maxTurns, () => violations.length > 0))) {
          if (violations.length === 0) evidence.violated('I9', `more than ${maxTurns} turns: it goes in circles`);
          return false;
        }
      }
      return true;
    };
    let lookAt: number | undefined = 0;
    let isTorn = false;
    /**
     * A release disturbs the cluster like a fault. Its result shows once the group may be tried again. So does a pod that a node rejects or
     * an owner recreates: a node may reject one whenever it is bound, for example after the node was avoided for a minute.
     */
    const restsAt = (): number => {
      const releases = releasesIn(record);
      isTorn = releases.some(({ group }) => releases.filter((each) => each.group === group).length > maxReleases);
      const heldUntil = isTorn ? [] : releases.map((release) => release.heldUntil + baseMs);
      return Math.max(
        world.disturbedUntil + settling(),
        world.reactsUntil + baseMs,
        preemptions.actsUntil + baseMs,
        lookAt ?? 0,
        ...heldUntil,
      );
    };
    while (lookAt !== undefined && !isTorn && (await continues(restsAt))) {
      if (isTorn) break;
      const again = checkers.map((checker) => checker.settled?.()).filter((at) => at !== undefined);
      lookAt = again.length > 0 && violations.length === 0 ? Math.max(...again) : undefined;
    }
    if (violations.length === 0 && !isTorn && lookAt === undefined) watch?.settled?.(record, started);
    if (isTorn && scenario.forbiddenNode === undefined)
      evidence.violated('I2', `a group is released for the ${maxReleases + 1}th time and is partially bound again`);
    if (isTorn) evidence.excused('released repeatedly: a node rejects all Bindings');
    if (violations.length === 0 && !isTorn && lookAt === undefined) {
      const quietFrom = world.timeline.now + lastWordsMs;
      // The scheduler retries forever to bind a pod to a forbidden node, and a forbidden pod that needs no other one.
      const retries = podsIn(record).some(
        (pod) => isOpen(pod) && scenario.forbiddenPods?.includes(pod.name) === true && isWithoutQuorum(record, pod),
      );
      const checksQuiet = !endsAtRest && scenario.forbiddenNode === undefined && !retries;
      if (checksQuiet && (await continues(() => quietFrom))) {
        for (const checker of checkers) checker.quiet?.();
        const attemptsBefore = await world.attempts();
        for (let poked = 0; poked < pokes; poked++) {
          world.timeline.after((poked * quietMs) / pokes, () => world.pokeWaiting());
        }
        if (await continues(() => quietFrom + quietMs)) {
          const attempts = (await world.attempts()) - attemptsBefore;
          for (const checker of checkers) checker.ended?.(attempts);
        }
      }
    }
    if (world.plane.misuses.length > 0)
      throw new Error(`the scenario contains an invalid request: ${world.plane.misuses[0]}`);
    const reserved = { ...(await world.turns()) };
    addCounts(reserved, turns?.counts ?? {});
    return {
      violations,
      digest: record.digest,
      struck: Object.fromEntries(world.faults.struck),
      excused,
      placedBy: world.placedBy,
      preempted: preemptions.tally.end((process) => process.hasLostLease),
      reserved,
      places: world.faults.places,
      turns: world.timeline.count,
      lastedMs: world.timeline.now,
    };
  } finally {
    world.close();
  }
}

/**
 * Records that a group has started once its quorum was bound: the current quorum, or the one at the time its members were bound. The group
 * starts over once no member is bound or has succeeded.
 */
function noteStart(record: StoreRecord, name: string, started: Set<string>): void {
  const group = groupNamed(record, name);
  if (group === undefined) return;
  const { bound, succeeded, isWhole } = tallyOf(group, podsIn(record));
  if (isWhole) started.add(group.uid);
  else if (bound.length + succeeded === 0) started.delete(group.uid);
}

function isWithoutQuorum(record: StoreRecord, { group }: PlainPod): boolean {
  return group !== undefined && groupNamed(record, group)?.minMember === 0;
}
