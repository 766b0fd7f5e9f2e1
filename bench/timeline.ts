/**
 * Measures what the record of the timeline costs while no client follows it. Two schedulers get the same pods without an API server: one keeps the
 * record, the other does not. In a round, 200 pods come and are decided, and those that came four rounds before end. That covers the watch
 * handlers, the attempts with their verdicts, the outcomes of Bindings, and the garbage collection of what the round has left. Rounds of the two alternate,
 * and so does the order within a pair. Prints for each load the medians of the rounds, the median and the quartiles of the ratios of the pairs, and
 * the fastest tenth of the rounds, which depends least on what else the machine does. Then it measures the time inside the record, and which share
 * of the attempts that is.
 *
 *     node bench/timeline.ts [nodes] [pairs] [load]
 *
 * With RECORD=on or RECORD=off, only one of the schedulers runs, so that a profiler can count its instructions.
 */
import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Pod } from '../src/api/pod.ts';
import type { GangSpec } from '../src/cluster/gang-spec.ts';
import { gangSpecOf } from '../src/scheduler/intake/pod-group-adapter.ts';
import type { SchedulerCore } from '../src/scheduler/scheduler-core.ts';
import { Timeline } from '../src/scheduler/timeline/timeline.ts';
import { answeredPorts } from '../src/scheduler/testing/answered-ports.ts';
import { Builders } from '../src/testkit/builders/builders.ts';
import { benchCore } from './bench-core.ts';

const nodeCount = Number(process.argv[2] ?? 1_000);
const pairs = Number(process.argv[3] ?? 40);
const podsPerRound = 200;
const roundsAlive = 4;

interface Load {
  /** Pods of a gang; 1: pods alone. */
  readonly size: (pod: number) => number;
  readonly cpu: (pod: number) => number;
}
const loads: Readonly<Record<string, Load>> = {
  'pods alone': { size: () => 1, cpu: () => 1 },
  'half of the pods in gangs of 10': { size: (pod) => (pod < podsPerRound / 2 ? 10 : 1), cpu: () => 1 },
  'gangs of 100': { size: () => 100, cpu: () => 1 },
  'rejected pods, each with other requests': { size: () => 1, cpu: (pod) => 17 + pod / 1_000 },
  'rejected pods with equal requests': { size: () => 1, cpu: () => 17 },
};

/** Collects the young generation, so that each round pays for what it has left there. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;

/** Lets a scheduler begin. Without a record, its timeline stays as before it leads, and records nothing. */
function begin(core: SchedulerCore, keepsRecord: boolean): void {
  const { prototype } = Timeline;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- put back below
  const original = prototype.begin;
  if (!keepsRecord) prototype.begin = () => undefined;
  core.begin();
  prototype.begin = original;
}

type Method = (this: Timeline, ...values: readonly unknown[]) => void;

/** Methods that record what the API shows, and what an attempt decides. */
const watched = ['podChanged', 'groupChanged'] as const;
const decided = ['planned', 'rejected'] as const;

/** Milliseconds inside the record. */
interface Spent {
  all: number;
  /** The part of it within attempts. */
  deciding: number;
}

/** Measures the time inside the record: more precise than the ratio of two schedulers, but without what the record costs the garbage collector. */
class RecordMeter {
  static readonly methods = [...watched, ...decided] as const;
  readonly #prototype = Timeline.prototype as unknown as Record<string, Method>;
  readonly #originals = RecordMeter.methods.map((name) => this.#prototype[name]!);
  /** Time that reading the clock takes, in milliseconds. */
  readonly #overhead: number;
  #spent: Spent = { all: 0, deciding: 0 };

  constructor() {
    const overheads = Array.from({ length: 50 }, () => {
      this.take();
      for (let i = 0; i < 2_000; i++) this.#add(performance.now(), false);
      return this.take().all / 2_000;
    });
    this.#overhead = quantile(overheads, 0.1);
    for (const [i, name] of RecordMeter.methods.entries()) {
      const isDecided = (decided as readonly string[]).includes(name);
      this.#prototype[name] = this.#timed(this.#originals[i]!, isDecided);
    }
  }

  /** Returns what was spent since the last call. */
  take(): Spent {
    const spent = this.#spent;
    this.#spent = { all: 0, deciding: 0 };
    return spent;
  }

  stop(): void {
    for (const [i, name] of RecordMeter.methods.entries()) this.#prototype[name] = this.#originals[i]!;
  }

  #timed(original: Method, isDecided: boolean): Method {
    const add = (startedAt: number): void => this.#add(startedAt + this.#overhead, isDecided);
    return function (a, b, c) {
      const startedAt = performance.now();
      original.call(this, a, b, c);
      add(startedAt);
    };
  }

  #add(startedAt: number, isDecided: boolean): void {
    const ms = performance.now() - startedAt;
    this.#spent.all += ms;
    if (isDecided) this.#spent.deciding += ms;
  }
}

interface Batch {
  readonly pods: readonly Pod[];
  readonly specs: readonly GangSpec[];
}

/** A scheduler, and the API server as it sees it. */
class Stage {
  readonly #load: Load;
  readonly #core: SchedulerCore;
  readonly #build: Builders;
  /** uid -> pod as the watch has shown it */
  readonly #shown = new Map<string, Pod>();
  readonly #bound: Pod[] = [];
  readonly #alive: Batch[] = [];
  #round = 0;
  /** Milliseconds within attempts. */
  #attempting = 0;

  constructor(load: Load, keepsRecord: boolean) {
    this.#load = load;
    this.#core = benchCore({
      ports: {
        ...answeredPorts,
        binder: {
          bind: ({ uid, nodeName }) => {
            this.#bound.push({ ...this.#shown.get(uid)!, nodeName });
            return Promise.resolve();
          },
        },
        verdicts: { write: () => Promise.resolve('written') },
      },
    });
    this.#build = new Builders({ resources: this.#core.cluster.resources });
    for (let i = 0; i < nodeCount; i++)
      this.#core.handlers.nodes.onAdd(this.#build.projectedNode({ name: `n${i}`, cpu: 16, memory: '64Gi', pods: 110 }));
    begin(this.#core, keepsRecord);
  }

  /** Returns the CPU time in milliseconds. */
  async round(): Promise<number> {
    const coming = this.#create();
    this.#alive.push(coming);
    const going = this.#alive.length > roundsAlive ? this.#alive.shift() : undefined;
    collect({ type: 'minor' });
    const used = process.cpuUsage();
    for (const spec of coming.specs) this.#core.handlers.podGroups.onAdd(spec);
    for (const pod of coming.pods) this.#show(pod);
    await this.#settle();
    if (going !== undefined) this.#end(going);
    collect({ type: 'minor' });
    const { user, system } = process.cpuUsage(used);
    return (user + system) / 1000;
  }

  /** Returns the milliseconds within attempts since the last call. */
  takeAttempting(): number {
    const ms = this.#attempting;
    this.#attempting = 0;
    return ms;
  }

  async stop(): Promise<void> {
    await this.#core.stop();
  }

  #create(): Batch {
    const round = this.#round++;
    const groups = new Map<string, number>();
    const pods = Array.from({ length: podsPerRound }, (_, i) => {
      const uid: string = randomUUID();
      const [size, cpu] = [this.#load.size(i), this.#load.cpu(i)];
      if (size === 1) return this.#build.projectedPod({ name: `lone-${round}-${i}`, uid, cpu });
      const group = `gang-${round}-${Math.floor(i / size)}`;
      groups.set(group, size);
      return this.#build.projectedPod({ name: `member-${round}-${i}`, uid, cpu, group });
    });
    const specs = [...groups].map(([name, minMember]) =>
      gangSpecOf(this.#build.projectedPodGroup({ name, uid: name, minMember }), this.#core.cluster.resources),
    );
    return { pods, specs };
  }

  #show(pod: Pod): void {
    const old = this.#shown.get(pod.uid);
    this.#shown.set(pod.uid, pod);
    if (old === undefined) this.#core.handlers.pods.onAdd(pod);
    else this.#core.handlers.pods.onUpdate(old, pod);
  }

  /** Makes attempts and shows the bound pods until the scheduler is idle. */
  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < 3;) {
      let done = 0;
      const startedAt = performance.now();
      while (done < 100 && this.#core.attempt() !== undefined) done++;
      this.#attempting += performance.now() - startedAt;
      for (const pod of this.#bound.splice(0, 1_000)) {
        done++;
        this.#show(pod);
      }
      quiet = done === 0 ? quiet + 1 : 0;
      await turn();
    }
  }

  #end({ pods, specs }: Batch): void {
    const { handlers } = this.#core;
    for (const { uid } of pods) {
      const pod = this.#shown.get(uid)!;
      if (pod.nodeName !== '') this.#show({ ...pod, phase: 'Succeeded' });
    }
    for (const { uid } of pods) {
      handlers.pods.onDelete(this.#shown.get(uid)!, false);
      this.#shown.delete(uid);
    }
    for (const spec of specs) handlers.podGroups.onDelete(spec, false);
  }
}

function quantile(values: readonly number[], part: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * part)]!;
}

async function measure(load: Load): Promise<string> {
  const stages = [new Stage(load, true), new Stage(load, false)] as const;
  const times: readonly [number[], number[]] = [[], []];
  for (let pair = -8; pair < pairs; pair++) {
    for (const half of pair % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const ms = await stages[half].round();
      if (pair >= 0) times[half].push(ms);
    }
  }
  for (const stage of stages) await stage.stop();
  const inside = await measureInside(load);
  const [on, off] = times;
  const more = on.map((ms, i) => ms / off[i]!);
  const micros = (of: readonly number[], part: number): string =>
    `${((quantile(of, part) * 1_000) / podsPerRound).toFixed(2)} µs`;
  const percent = (ratio: number): string => `${((ratio - 1) * 100).toFixed(2)} %`;
  const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => percent(quantile(more, part)));
  return (
    `${micros(on, 0.5)} with the record, ${micros(off, 0.5)} without it; within a pair ${middle} more (quartiles ${low} to ${high}). ` +
    `Fastest tenth: ${micros(on, 0.1)} and ${micros(off, 0.1)}, ${percent(quantile(on, 0.1) / quantile(off, 0.1))} more. ` +
    `Inside the record: median ${micros(inside.all, 0.5)}, fastest tenth ${micros(inside.all, 0.1)}; ` +
    `median share of the attempts ${(quantile(inside.shares, 0.5) * 100).toFixed(2)} %`
  );
}

/** By round: the milliseconds inside the record, and the share of the attempts that it takes. */
interface Inside {
  readonly all: readonly number[];
  readonly shares: readonly number[];
}

async function measureInside(load: Load): Promise<Inside> {
  const meter = new RecordMeter();
  const stage = new Stage(load, true);
  const [all, shares]: [number[], number[]] = [[], []];
  for (let round = -8; round < pairs; round++) {
    meter.take();
    stage.takeAttempting();
    await stage.round();
    const spent = meter.take();
    if (round < 0) continue;
    all.push(spent.all);
    shares.push(spent.deciding / stage.takeAttempting());
  }
  await stage.stop();
  meter.stop();
  return { all, shares };
}

const { RECORD: only } = process.env;
console.log(
  `${nodeCount} nodes, ${pairs} pairs of rounds of ${podsPerRound} pods, Node ${process.version}; CPU time of a pod:`,
);
for (const [name, load] of Object.entries(loads)) {
  if (process.argv[4] !== undefined && name !== process.argv[4]) continue;
  if (only === undefined) {
    console.log(`${name}: ${await measure(load)}`);
    continue;
  }
  const stage = new Stage(load, only === 'on');
  for (let round = 0; round < pairs; round++) await stage.round();
  await stage.stop();
}
