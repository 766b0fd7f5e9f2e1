import type { Violation } from './checks/evidence.ts';
import { runScenario } from './run-scenario.ts';
import { callFaults, watchFaults } from './scenario.ts';
import type { CallFault, Fault, Scenario, WatchFault, WatchedResource } from './scenario.ts';
import type { FaultPlaces } from './world/faults.ts';
import type { Role } from './world/process.ts';

/** A gang that just fits on the nodes, and a single pod that competes for the same capacity. */
export interface Base {
  readonly members: number;
  readonly nodes: number;
}

const bases: readonly Base[] = [
  { members: 2, nodes: 2 },
  { members: 2, nodes: 3 },
  { members: 3, nodes: 2 },
  { members: 3, nodes: 3 },
];
/** The base for which pairs of faults are tried as well. */
const pairsOf = bases[0]!;

export interface FailedCase {
  /** Argument of `--case` that runs it again. */
  readonly name: string;
  readonly violation: Violation;
}

export type Depth = 'singles' | 'pairs';

export interface ExhaustiveOutcome {
  /** Number of faults, or pairs of faults, tried. */
  readonly runs: number;
  readonly failed: readonly FailedCase[];
}

const firstAt = 100;
/** End of the time in which second faults strike. */
const faultsUntil = 30_000;
const resources: readonly WatchedResource[] = ['pods', 'nodes', 'podgroups'];
const roles: readonly Role[] = ['scheduler', 'controller'];

/** Duration of each lasting kind of fault, in milliseconds. */
const durations: Readonly<Partial<Record<CallFault | WatchFault, number>>> = {
  'slow-request': 8_000,
  'slow-answer': 8_000,
  'late-request': 1_000,
  'waits-for-connection': 3_000,
  'pause-before': 5_000,
  'reject-429': 2_000,
  lag: 3_000,
};

function baseScenario({ members, nodes }: Base, faults: readonly Fault[]): Scenario {
  const places = Math.max(members, nodes);
  const name = 'g0';
  const member = { milliCpu: 1_000, mebibytes: 64 };
  return {
    seed: 1,
    nodes: Array.from({ length: nodes }, (_, i) => {
      const here = Math.floor((places + nodes - 1 - i) / nodes);
      return { name: `n${i}`, milliCpu: here * 1_000, mebibytes: 1_024, pods: 10 };
    }),
    scheduler: { instances: 1, elects: false, qps: 50, burst: 100, permitMs: 0, preBindMs: 0 },
    hasController: true,
    network: { latencyMs: 4, watchLagMs: 6, bookmarks: true },
    steps: [
      {
        at: firstAt,
        kind: 'create-group',
        group: {
          name,
          minMember: members,
          members: Array.from({ length: members }, () => member),
          priority: 0,
          spacingMs: 0,
          groupAfterMs: -20,
          recreation: 'same-name',
        },
      },
      { at: firstAt + 60, kind: 'create-pod', name: 'lone-0', pod: member, priority: 0 },
    ],
    faults,
    faultsUntil: faults.length === 0 ? 5_000 : faultsUntil,
  };
}

/** Yields every fault at every call, and at every line and opening of a watch. */
function* singlesAt({ calls, watches }: FaultPlaces): Iterable<Fault> {
  for (const role of roles) {
    yield* callFaultsFrom(calls, role, 0);
    for (const resource of resources) {
      for (const kind of watchFaults) {
        const where = kind.startsWith('reject-open') ? 'openings' : 'lines';
        const count = watches.get(`${role}/${resource}/${where}`) ?? 0;
        for (let nth = 0; nth < count; nth++)
          yield { on: 'watch', role, resource, nth, kind, ms: durations[kind] ?? 0 };
      }
    }
  }
}

function* callFaultsFrom(calls: FaultPlaces['calls'], role: Role, from: number): Iterable<Fault> {
  for (let nth = from; nth < (calls.get(`${role}/any`) ?? 0); nth++) {
    for (const kind of callFaults) yield { on: 'call', role, of: 'any', nth, kind, ms: durations[kind] ?? 0 };
  }
}

/** Runs one part of the work. Single faults are divided: every `of`th from the `part`th, or all pairs whose first fault is one of these. */
export async function runPart(depth: Depth, part: number, of: number): Promise<ExhaustiveOutcome> {
  const failed: FailedCase[] = [];
  let [runs, index] = [0, 0];
  const run = async (base: Base, faults: readonly Fault[]): Promise<FaultPlaces> => {
    const { violations, places } = await runScenario(baseScenario(base, faults), { endsAtRest: faults.length > 1 });
    if (violations[0] !== undefined) failed.push({ name: formatCase(base, faults), violation: violations[0] });
    return places;
  };
  for (const base of depth === 'pairs' ? [pairsOf] : bases) {
    const places = await run(base, []);
    const singles = depth === 'pairs' ? callFaultsFrom(places.calls, 'scheduler', 0) : singlesAt(places);
    for (const fault of singles) {
      if (index++ % of !== part) continue;
      const after = await run(base, [fault]);
      if (depth === 'singles') runs++;
      else {
        for (const second of callFaultsFrom(after.calls, 'scheduler', nthOf(fault) + 1)) {
          runs++;
          await run(base, [fault, second]);
        }
      }
    }
  }
  return { runs, failed };
}

function nthOf(fault: Fault): number {
  return fault.on === 'outage' ? 0 : fault.nth;
}

/** Returns a name such as `2on3 scheduler:any4=lost-answer scheduler:pods7=cut`. */
export function formatCase({ members, nodes }: Base, faults: readonly Fault[]): string {
  const parts = faults.map((fault) => {
    if (fault.on === 'outage') return '';
    return `${fault.role}:${fault.on === 'call' ? fault.of : fault.resource}${fault.nth}=${fault.kind}`;
  });
  return [`${members}on${nodes}`, ...parts].join(' ');
}

/** Parses a case name. Throws RangeError with the valid names. */
export function parseCase(text: string): Scenario {
  const [head = '', ...parts] = text.split(' ').filter((part) => part !== '');
  const base = bases.find(({ members, nodes }) => head === `${members}on${nodes}`);
  if (base === undefined)
    throw new RangeError(
      `"${head}" is not a case: must be one of ${bases.map((each) => formatCase(each, [])).join(', ')}`,
    );
  return baseScenario(base, parts.map(parseFault));
}

function parseFault(text: string): Fault {
  const [, role, what, digits, kind] =
    /^(scheduler|controller):(any|pods|nodes|podgroups)(\d+)=([a-z0-9-]+)$/.exec(text) ?? [];
  const [nth, by] = [Number(digits), role as Role];
  const ofCall = callFaults.find((each) => each === kind);
  const ofWatch = watchFaults.find((each) => each === kind);
  if (what === 'any' && ofCall !== undefined)
    return { on: 'call', role: by, of: 'any', nth, kind: ofCall, ms: durations[ofCall] ?? 0 };
  const resource = resources.find((each) => each === what);
  if (resource !== undefined && ofWatch !== undefined) {
    return { on: 'watch', role: by, resource, nth, kind: ofWatch, ms: durations[ofWatch] ?? 0 };
  }
  throw new RangeError(
    `"${text}" is not a fault of a case, such as scheduler:any4=lost-answer or controller:pods2=cut`,
  );
}
