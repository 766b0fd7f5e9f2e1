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
  /** Maximum time for which a group may be partially bound while a scheduler works and no other has taken the capacity. */
  readonly boundMs: number;
  /** How long another scheduler keeps the capacity that it took, once a scheduler works again. */
  readonly holdMs: number;
  /** Merged into the spec of each PodGroup. */
  readonly groupSpec: object;
  readonly say: (line: string) => void;
}

/** How a leader fails. */
export type Way = 'kill' | 'terminate' | 'freeze';

/** Counts of actions and observations. */
export interface ChaosResult {
  readonly problems: readonly string[];
  /** kind of failure -> how often */
  readonly changes: Readonly<Record<Way, number>>;
  /** How often groups were partially bound at the moment of a failure, and how many groups in total. */
  readonly inMidGang: number;
  readonly partialGroups: number;
  /** How often another scheduler took the free capacity in between, and how often that of partially bound groups. */
  readonly capacityTaken: number;
  readonly capacityOfPartialTaken: number;
  /** Number of groups seen complete, and of members and other pods that Tutti has bound. */
  readonly wholeGroups: number;
  readonly boundPods: number;
  readonly carriedOutBindings: number;
  /** How long groups were partially bound, in counted milliseconds: sorted. */
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
/** Time limit for a graceful end, as documented in docs/operations.md. */
const endsWithinMs = 25_000;

/**
 * Kills one scheduler repeatedly at random moments under a load of gangs, and restarts it. Every second time, another scheduler takes all
 * free capacity in between.
 */
export function killedAgainAndAgain(plane: RealPlane, kills: number, options: ChaosOptions): Promise<ChaosResult> {
  return Chaos.play(plane, 1, ['--leader-elect=false'], options, async (chaos) => {
    for (let kill = 1; kill <= kills; kill++) await chaos.killAndRestart(kill);
  });
}

/** Kills, terminates or freezes the leader of three replicas at random moments, until the leader has changed `changes` times. */
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
  /** Number of problems reported so far. */
  #reported = 0;

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

  /** Kills the scheduler at a random moment: usually while it schedules, sometimes while it starts. */
  async killAndRestart(kill: number): Promise<void> {
    const isEarly = this.#random() < 0.1;
    const leader = isEarly ? this.#replicas.lives.at(-1)! : await this.#currentLeader();
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
    this.#reportProgress(
      `kill ${kill}${isEarly ? ' while it started' : ''}${takesCapacity ? ', capacity taken' : ''}`,
      partial,
    );
  }

  async changeLeader(change: number): Promise<void> {
    await this.#currentLeader();
    await this.#replicas.settled();
    await this.#randomMoment();
    // On a busy machine it may have lost the Lease in the meantime.
    const leader = await this.#currentLeader();
    const way = (['kill', 'terminate', 'freeze'] as const)[Math.floor(this.#random() * 3)]!;
    const next = this.#replicas.nextLeader();
    this.#counted.pause();
    const begunAt = performance.now();
    const { process } = leader;
    const { partial: atSignal } = this.#judge;
    if (way === 'kill') await this.#replicas.kill(leader);
    else process.signal(way === 'freeze' ? 'SIGSTOP' : 'SIGTERM');
    this.#changes[way]++;
    // The next one cannot write before the Lease has expired; only then is there time to take the capacity.
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
    const line = `change ${change}: ${way}${takesCapacity ? ', capacity taken' : ''}, the next one schedules after ${Math.round(tookMs)} ms`;
    this.#reportProgress(line, partial);
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
      await this.#currentLeader();
      this.#counted.resume();
      await this.#noneIsPartial();
      await load.stop();
      // A scheduler that stops completes the gangs that it is binding. The watch shows the last Binding a little later.
      await this.#replicas.stop();
      await this.#noneIsPartial();
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

  async #currentLeader(): Promise<Replica> {
    return this.#replicas.leader ?? (await within(this.#replicas.nextLeader(), 'one schedules'));
  }

  /** Waits until the API server has finished all requests, so that two lists are equal. Returns the partially bound groups. */
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
      'the bound pods do not change',
      5_000,
    ).catch(() => undefined); // gangs that end change them, too
    return this.#judge.partial;
  }

  #countPartial(partial: readonly string[]): void {
    this.#partialGroups += partial.length;
    if (partial.length > 0) this.#inMidGang++;
  }

  /** Waits for a random moment while a scheduler works. In two of three cases it is the next moment at which a gang is partially bound. */
  async #randomMoment(): Promise<void> {
    this.#counted.resume();
    await sleep(this.#random() * longestMomentMs);
    if (this.#random() < 1 / 3) return;
    const delayMs = this.#random() * 30;
    const missing = (): string | undefined => (this.#judge.partial.length > 0 ? undefined : 'none is');
    await poll(() => Promise.resolve(missing()), 'a group is partially bound', 3_000).catch(() => undefined);
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

  async #noneIsPartial(): Promise<void> {
    await poll(
      () => Promise.resolve(this.#judge.partial.length === 0 ? undefined : this.#judge.partial.join(', ')),
      'no group is partially bound',
      this.#options.boundMs + 5_000,
    ).catch((error: unknown) => this.#problem(String(error)));
  }

  async #endedWell({ process, slot }: Replica, sinceMs: number): Promise<void> {
    const { exitCode } = await process.ended();
    const tookMs = performance.now() - sinceMs;
    // On a busy machine it may have failed to renew the Lease just before.
    if (process.stderr.includes('"lost the leader election"')) return;
    if (exitCode !== 0) this.#problem(`replica ${slot} ended with ${exitCode ?? 'no'} exit code after SIGTERM`);
    if (tookMs > endsWithinMs) this.#problem(`replica ${slot} took ${Math.round(tookMs)} ms to end`);
    if (!/released the Lease|left the Lease to expire/.test(process.stderr)) {
      this.#problem(`replica ${slot} did not log what happened to the Lease`);
    }
  }

  /** Resumes a frozen leader after another has taken over; it must notice and end. */
  async #thaw({ process, slot }: Replica): Promise<void> {
    await sleep(this.#random() * longestMomentMs);
    process.signal('SIGCONT');
    const { exitCode } = await process.ended();
    if (exitCode !== 1) this.#problem(`replica ${slot} ended with ${exitCode ?? 'no'} exit code after it was frozen`);
  }

  #problem(what: string): void {
    this.#judge.problems.push(`${time()} ${what}`);
  }

  #reportProgress(what: string, partial: readonly string[]): void {
    const { waiting, started } = this.#judge.others;
    const groups = `${partial.length} groups partially bound, ${waiting} not started, ${started} complete`;
    this.#options.say(`${time()} ${what}; ${groups}`);
    const { problems } = this.#judge;
    for (const problem of problems.slice(this.#reported)) this.#options.say(`  PROBLEM ${problem}`);
    this.#reported = problems.length;
  }
}

/** Creates nodes, a namespace, and a user for each replica. Returns their kubeconfigs. */
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

/** Rejects when it takes so long that it will never happen. */
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
