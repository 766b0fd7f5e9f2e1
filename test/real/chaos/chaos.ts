import { podGroupPath } from '../../../src/api/pod-group.ts';
import { seededRandom } from '../../../src/base/random.ts';
import type { Random } from '../../../src/base/random.ts';
import type { ElectionTimes } from '../takeovers.ts';
import { Recording } from '../../expect/recording.ts';
import { keyOf } from '../../expect/watched.ts';
import type { RealPlane } from '../../planes/real/real-plane.ts';
import { ApiAudit } from '../../planes/real/api-audit.ts';
import { kubeconfigOf } from '../../planes/real/service-accounts.ts';
import { hangsMs } from '../../planes/patience.ts';
import { poll } from '../../planes/poll.ts';
import { priorities } from '../../scenarios/pod-manifest.ts';
import { auditProblems, carriedOutBindings } from './audit-problems.ts';
import { CountedTime } from './counted-time.ts';
import { GangLoad } from './gang-load.ts';
import { Judge } from './judge.ts';
import type { JudgedGroup, JudgedPod } from './judge.ts';
import { OtherScheduler } from './other-scheduler.ts';
import { Replicas } from './replicas.ts';
import type { Replica } from './replicas.ts';

export interface ChaosOptions {
  readonly seed: number;
  /** So long a group may be between 0 and minMember while somebody schedules and nobody else has taken the room. */
  readonly boundMs: number;
  /** How long another scheduler keeps the room that it has taken, once somebody schedules again. */
  readonly holdMs: number;
  /** Merged into the spec of each PodGroup. */
  readonly groupSpec: object;
  readonly say: (line: string) => void;
}

/** In which way a leader goes. */
export type Way = 'kill' | 'terminate' | 'freeze';

/** What was done and seen; all counts. */
export interface ChaosResult {
  readonly problems: readonly string[];
  /** way -> how often */
  readonly changes: Readonly<Record<Way, number>>;
  /** Of these, how often groups were between 0 and minMember at that moment, and how many groups in all. */
  readonly inMidGang: number;
  readonly partialGroups: number;
  /** How often another scheduler took the room meanwhile, and how often that of groups that were between 0 and minMember. */
  readonly capacityTaken: number;
  readonly capacityOfPartialTaken: number;
  /** Groups that were seen whole, and members and other pods that Tutti has bound. */
  readonly wholeGroups: number;
  readonly boundPods: number;
  readonly carriedOutBindings: number;
  /** How long groups were between 0 and minMember in counted time, ms: sorted. */
  readonly partialMs: readonly number[];
  readonly seconds: number;
}

const nodeCount = 6;
const cores = 16;
const namespace = 'chaos';
/** Slow enough that binding a gang takes a while. */
const callsPerSecond = 30;
const burst = 5;
const longestMomentMs = 1_500;
/** In which whoever terminates must have ended; docs/operations.md says so. */
const endsWithinMs = 25_000;

/**
 * One scheduler is killed again and again at random moments under a load of gangs, and started anew; every second time another
 * scheduler has taken all room in between.
 */
export function killedAgainAndAgain(plane: RealPlane, kills: number, options: ChaosOptions): Promise<ChaosResult> {
  return Chaos.play(plane, 1, ['--leader-elect=false'], options, async (chaos) => {
    for (let kill = 1; kill <= kills; kill++) await chaos.killAndStartAnew(kill);
  });
}

/** Three replicas, whose leader is killed, told to end or frozen at random moments, until so many others have led. */
export function leadersChange(
  plane: RealPlane,
  changes: number,
  { lease, renew, retry }: ElectionTimes,
  options: ChaosOptions,
): Promise<ChaosResult> {
  const flags = [
    `--leader-elect-lease-duration=${lease}s`,
    `--leader-elect-renew-deadline=${renew}s`,
    `--leader-elect-retry-period=${retry}s`,
  ];
  return Chaos.play(plane, 3, flags, options, async (chaos) => {
    for (let change = 1; change <= changes; change++) await chaos.changeLeader(change);
  });
}

class Chaos {
  readonly #plane: RealPlane;
  readonly #options: ChaosOptions;
  readonly #random: Random;
  readonly #counted = new CountedTime(() => performance.now());
  readonly #judge: Judge;
  readonly #other: OtherScheduler;
  readonly #replicas: Replicas;
  readonly #changes: Record<Way, number> = { kill: 0, terminate: 0, freeze: 0 };
  #inMidGang = 0;
  #partialGroups = 0;
  #capacityTaken = 0;
  #capacityOfPartialTaken = 0;
  /** Problems that have been told. */
  #told = 0;

  private constructor(
    plane: RealPlane,
    kubeconfigs: readonly string[],
    flags: readonly string[],
    options: ChaosOptions,
  ) {
    this.#plane = plane;
    this.#options = options;
    this.#random = seededRandom(options.seed);
    const nodes = new Map(Array.from({ length: nodeCount }, (_, index) => [`node-${index}`, cores]));
    const { boundMs } = options;
    this.#judge = new Judge({ boundMs, counted: this.#counted, nodes, time });
    this.#other = new OtherScheduler(plane.client, namespace);
    this.#replicas = new Replicas({
      kubeconfigs,
      flags: [
        ...['--secure-port', '0', '--log-format', 'json', '--leader-elect-resource-namespace', namespace],
        ...['--kube-api-qps', String(callsPerSecond), '--kube-api-burst', String(burst)],
        ...flags,
      ],
    });
  }

  static async play(
    plane: RealPlane,
    replicas: number,
    flags: readonly string[],
    options: ChaosOptions,
    act: (chaos: Chaos) => Promise<void>,
  ): Promise<ChaosResult> {
    const kubeconfigs = await prepare(plane, replicas);
    const chaos = new Chaos(plane, kubeconfigs, flags, options);
    return chaos.#play(act);
  }

  /** It is killed at a random moment: mostly while it schedules, now and then while it still begins. */
  async killAndStartAnew(kill: number): Promise<void> {
    const isEarly = this.#random() < 0.1;
    const leader = isEarly ? this.#replicas.lives.at(-1)! : await this.#whoeverLeads();
    if (isEarly) await sleep(this.#random() * longestMomentMs);
    else await this.#randomMoment();
    this.#counted.pause();
    await this.#replicas.kill(leader);
    this.#changes.kill++;
    const partial = await this.#untilStill();
    this.#countPartial(partial);
    const takesCapacity = kill % 2 === 0;
    if (takesCapacity) await this.#takeCapacity(partial);
    const next = this.#replicas.nextLeader();
    this.#replicas.again(leader.slot);
    if (takesCapacity) {
      await next;
      await this.#giveCapacityBack();
    }
    this.#tell(`kill ${kill}${isEarly ? ' while it began' : ''}${takesCapacity ? ', room taken' : ''}`, partial);
  }

  async changeLeader(change: number): Promise<void> {
    await this.#whoeverLeads();
    await this.#replicas.settled();
    await this.#randomMoment();
    // On a busy machine it may have lost the Lease by itself meanwhile.
    const leader = await this.#whoeverLeads();
    const way = (['kill', 'terminate', 'freeze'] as const)[Math.floor(this.#random() * 3)]!;
    const next = this.#replicas.nextLeader();
    this.#counted.pause();
    const begunAt = performance.now();
    const { process } = leader;
    const { partial: atSignal } = this.#judge;
    if (way === 'kill') await this.#replicas.kill(leader);
    else process.signal(way === 'freeze' ? 'SIGSTOP' : 'SIGTERM');
    this.#changes[way]++;
    // The next one cannot write before the Lease has expired; only so there is time to take the room.
    const takesCapacity = way !== 'terminate' && change % 2 === 0;
    const partial = way === 'terminate' ? atSignal : await this.#untilStill();
    this.#countPartial(partial);
    if (takesCapacity) await this.#takeCapacity(partial);
    if (way === 'kill') this.#replicas.again(leader.slot);
    const successor = await within(next, 'another one schedules');
    const tookMs = performance.now() - begunAt;
    if (successor === leader) this.#problem(`replica ${leader.slot} led again without having ended`);
    if (!takesCapacity) this.#counted.resume();
    if (way === 'terminate') await this.#endedWell(leader, begunAt);
    if (way === 'freeze') await this.#thaw(leader);
    if (takesCapacity) await this.#giveCapacityBack();
    const told = `change ${change}: ${way}${takesCapacity ? ', room taken' : ''}, the next one schedules after ${Math.round(tookMs)} ms`;
    this.#tell(told, partial);
  }

  async #play(act: (chaos: Chaos) => Promise<void>): Promise<ChaosResult> {
    const begunAt = performance.now();
    const { client } = this.#plane;
    const feed: { drain: () => void } = { drain: () => undefined };
    const watched = await Promise.all([
      Recording.open<JudgedGroup>(client, podGroupPath(namespace), () => feed.drain()),
      Recording.open<JudgedPod>(client, `/api/v1/namespaces/${namespace}/pods`, () => feed.drain()),
    ]);
    const [groups, pods] = watched;
    feed.drain = () => {
      for (const change of groups.changes.splice(0)) this.#judge.group(change);
      for (const change of pods.changes.splice(0)) this.#judge.pod(change);
    };
    const present = (name: string): JudgedPod | undefined => pods.current.get(`${namespace}/${name}`);
    const load = new GangLoad({
      client,
      namespace,
      random: seededRandom(this.#options.seed + 1),
      waiting: 6,
      groupSpec: this.#options.groupSpec,
      countBound: (names) => names.filter((name) => present(name)?.spec.nodeName !== undefined).length,
      absent: (names) => names.filter((name) => present(name) === undefined),
    });
    const looks = setInterval(() => this.#judge.look(), 100);
    try {
      this.#replicas.start();
      load.start();
      await act(this);
      await this.#whoeverLeads();
      this.#counted.resume();
      await poll(
        () => Promise.resolve(this.#judge.partial.length === 0 ? undefined : this.#judge.partial.join(', ')),
        'no group is in part on nodes',
        this.#options.boundMs + 5_000,
      ).catch((error: unknown) => this.#problem(String(error)));
      await load.stop();
    } finally {
      clearInterval(looks);
      await this.#replicas.stop();
      await Promise.all(watched.map((recording) => recording.close()));
    }
    feed.drain();
    this.#judge.end();
    for (const { failure } of watched) if (failure !== undefined) this.#problem(failure.message);
    return this.#result((performance.now() - begunAt) / 1_000);
  }

  async #result(seconds: number): Promise<ChaosResult> {
    const calls = await new ApiAudit(this.#plane).callsFrom(namespace);
    const lives = this.#replicas.lives.map(({ slot, startedAt, endedAt = Infinity }) => ({
      user: `system:serviceaccount:${namespace}:${accountOf(slot)}`,
      startedAt,
      endedAt,
    }));
    const audited = auditProblems(calls, lives);
    const judge = this.#judge;
    return {
      problems: [...judge.problems, ...audited, ...this.#replicas.faults],
      changes: this.#changes,
      inMidGang: this.#inMidGang,
      partialGroups: this.#partialGroups,
      capacityTaken: this.#capacityTaken,
      capacityOfPartialTaken: this.#capacityOfPartialTaken,
      wholeGroups: judge.whole,
      boundPods: judge.boundBy.get('tutti') ?? 0,
      carriedOutBindings: carriedOutBindings(calls).length,
      partialMs: judge.partialMs.toSorted((a, b) => a - b),
      seconds,
    };
  }

  async #whoeverLeads(): Promise<Replica> {
    return this.#replicas.leader ?? (await within(this.#replicas.nextLeader(), 'one schedules'));
  }

  /** What the API server had in hand is carried out by now: two lists show the same. Answers the groups that are in part on nodes. */
  async #untilStill(): Promise<string[]> {
    let before: string | undefined;
    await poll(
      async () => {
        const now = JSON.stringify((await this.#boundPods()).map(keyOf).sort());
        const isSame = now === before;
        before = now;
        if (!isSame) await sleep(100);
        return isSame ? undefined : 'it changes';
      },
      'what is bound stays as it is',
      5_000,
    ).catch(() => undefined); // gangs that end change it, too
    return this.#judge.partial;
  }

  #countPartial(partial: readonly string[]): void {
    this.#partialGroups += partial.length;
    if (partial.length > 0) this.#inMidGang++;
  }

  /** Somebody schedules; two times of three it is the next moment at which some gang is in part on nodes. */
  async #randomMoment(): Promise<void> {
    this.#counted.resume();
    await sleep(this.#random() * longestMomentMs);
    if (this.#random() < 1 / 3) return;
    const delayMs = this.#random() * 30;
    const missing = (): string | undefined => (this.#judge.partial.length > 0 ? undefined : 'none is');
    await poll(() => Promise.resolve(missing()), 'a group is in part on nodes', 3_000).catch(() => undefined);
    await sleep(delayMs);
  }

  async #takeCapacity(partial: readonly string[]): Promise<void> {
    const free = new Map(Array.from({ length: nodeCount }, (_, index) => [`node-${index}`, cores]));
    for (const { spec } of await this.#boundPods()) {
      const cpu = Number(spec.containers[0]!.resources?.requests?.cpu ?? 0);
      free.set(spec.nodeName!, free.get(spec.nodeName!)! - cpu);
    }
    await this.#other.takeCapacity(free);
    this.#capacityTaken++;
    if (partial.length > 0) this.#capacityOfPartialTaken++;
  }

  async #giveCapacityBack(): Promise<void> {
    await sleep(this.#options.holdMs);
    await this.#other.giveBack();
  }

  async #boundPods(): Promise<JudgedPod[]> {
    const { items } = await this.#plane.client.list(`/api/v1/namespaces/${namespace}/pods`);
    return (items as JudgedPod[]).filter(({ spec }) => spec.nodeName !== undefined);
  }

  async #endedWell({ process, slot }: Replica, sinceMs: number): Promise<void> {
    const { exitCode } = await process.ended();
    const tookMs = performance.now() - sinceMs;
    // A busy machine may have kept it from renewing the Lease just before.
    if (process.stderr.includes('"lost the leader election"')) return;
    if (exitCode !== 0) this.#problem(`replica ${slot} ended with ${exitCode ?? 'no'} exit code after SIGTERM`);
    if (tookMs > endsWithinMs) this.#problem(`replica ${slot} took ${Math.round(tookMs)} ms to end`);
    if (!/released the Lease|left the Lease to expire/.test(process.stderr)) {
      this.#problem(`replica ${slot} has not said what became of the Lease`);
    }
  }

  /** Another one leads; what goes on now must find out, and end. */
  async #thaw({ process, slot }: Replica): Promise<void> {
    await sleep(this.#random() * longestMomentMs);
    process.signal('SIGCONT');
    const { exitCode } = await process.ended();
    if (exitCode !== 1) this.#problem(`replica ${slot} ended with ${exitCode ?? 'no'} exit code after it was frozen`);
  }

  #problem(what: string): void {
    this.#judge.problems.push(`${time()} ${what}`);
  }

  #tell(what: string, partial: readonly string[]): void {
    const { waiting, started } = this.#judge.others;
    const groups = `${partial.length} groups in part, ${waiting} not begun, ${started} whole`;
    this.#options.say(`${time()} ${what}; ${groups}`);
    const { problems } = this.#judge;
    for (const problem of problems.slice(this.#told)) this.#options.say(`  PROBLEM ${problem}`);
    this.#told = problems.length;
  }
}

/** Nodes, a namespace, and a user for each replica. Answers their kubeconfigs. */
async function prepare(plane: RealPlane, replicas: number): Promise<string[]> {
  const { client } = plane;
  await client.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const [name, value] of Object.entries(priorities)) {
    const object = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value };
    await client.create('/apis/scheduling.k8s.io/v1/priorityclasses', object);
  }
  await plane.addNodes(
    Array.from({ length: nodeCount }, (_, index) => ({ name: `node-${index}`, allocatable: { cpu: String(cores) } })),
  );
  const kubeconfigs: string[] = [];
  for (let slot = 0; slot < replicas; slot++) {
    const name = accountOf(slot);
    await client.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name },
    });
    await client.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `${namespace}-${name}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', namespace, name }],
    });
    kubeconfigs.push(await kubeconfigOf(plane, namespace, name));
  }
  return kubeconfigs;
}

/** Rejects when it takes so long that it will never be. */
async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${2 * hangsMs} ms: ${what}`)), 2 * hangsMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function accountOf(slot: number): string {
  return `replica-${slot}`;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function time(): string {
  return new Date().toISOString().slice(11, 23);
}
