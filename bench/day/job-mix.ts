import { seededRandom } from '../../src/base/random.ts';
import type { Random } from '../../src/base/random.ts';
import { clusterGpus } from './job.ts';
import type { Job, SizeClass } from './job.ts';

const minute = 60_000;
const hour = 60 * minute;
export const dayMs = 24 * hour;

interface ClassMix {
  readonly class: SizeClass;
  /** Share of the jobs. */
  readonly share: number;
  /** Shortest and longest run time; uniform in the logarithm. */
  readonly runtimeMs: readonly [number, number];
  readonly members: (random: Random) => number;
  /** GPUs of each member -> weight */
  readonly gpus: readonly (readonly [gpus: number, weight: number])[];
}

/** The jobs of the day. Half of the small jobs are single pods. */
const mix: readonly ClassMix[] = [
  {
    class: 'small',
    share: 0.7,
    runtimeMs: [2 * minute, 30 * minute],
    members: (random) => (random() < 0.5 ? 1 : wholeBetween(random, 2, 8)),
    gpus: [
      [1, 4],
      [2, 3],
      [4, 2],
      [8, 1],
    ],
  },
  {
    class: 'medium',
    share: 0.25,
    runtimeMs: [1 * hour, 4 * hour],
    members: (random) => wholeBetween(random, 16, 64),
    gpus: [
      [1, 1],
      [2, 1],
      [4, 1],
      [8, 1],
    ],
  },
  {
    class: 'large',
    share: 0.05,
    runtimeMs: [1 * hour, 6 * hour],
    members: (random) => Math.round(logBetween(random, 128, 512)),
    gpus: [
      [1, 1],
      [2, 1],
      [4, 1],
    ],
  },
];

export interface DayOptions {
  readonly seed: number;
  /** GPU time that the jobs of the day need, as a share of what the cluster has. */
  readonly load: number;
  /** Largest relative error of the declared run times: 0.3 declares between 70% and 130%. They are never less than one minute. */
  readonly declaredError: number;
}

/**
 * Draws the jobs of a day, by time of submission. Arrivals are uniform over the day. The same seed and load give the same jobs with every
 * error of the declared run times.
 */
export function drawJobs({ seed, load, declaredError }: DayOptions): readonly Job[] {
  const random = seededRandom(seed);
  const errors = seededRandom(seed + 1_000_003);
  const drawn: Omit<Job, 'id' | 'submittedAt'>[] = [];
  const wanted = load * clusterGpus * dayMs;
  for (let requested = 0; requested < wanted;) {
    const kind = drawWeighted(
      random,
      mix.map((each) => [each, each.share] as const),
    );
    const [members, gpus] = [kind.members(random), drawWeighted(random, kind.gpus)];
    const runtimeMs = Math.round(logBetween(random, ...kind.runtimeMs));
    const error = declaredError * (2 * errors() - 1);
    const declaredMs = Math.max(minute, Math.round(runtimeMs * (1 + error)));
    drawn.push({ class: kind.class, members, gpus, runtimeMs, declaredMs });
    requested += members * gpus * runtimeMs;
  }
  const submittedAt = drawn.map(() => Math.floor(random() * dayMs)).sort((a, b) => a - b);
  return drawn.map((job, id) => ({ ...job, id, submittedAt: submittedAt[id]! }));
}

function wholeBetween(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

function logBetween(random: Random, least: number, most: number): number {
  return least * (most / least) ** random();
}

function drawWeighted<T>(random: Random, weighted: readonly (readonly [T, number])[]): T {
  let left = random() * weighted.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [value, weight] of weighted) if ((left -= weight) < 0) return value;
  return weighted.at(-1)![0];
}
