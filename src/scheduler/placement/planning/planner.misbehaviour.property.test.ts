import { expect, it } from 'vitest';
import { seededRandom } from '../../../base/random.ts';
import type { Random } from '../../../base/random.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { skip, Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { Picture } from '../../../testkit/picture.ts';

const nonsense: readonly unknown[] = [
  'no',
  null,
  0,
  NaN,
  {},
  { nodeNames: 'a' },
  { code: 'Unschedulable', reasons: ['of another copy'] },
  skip,
  new Status('Error', 'failed'),
  new Status('Unschedulable', 'not now'),
];

/** Answers anything, or throws anything, now and then; else what `fine` answers. */
function now<T extends unknown[]>(random: Random, often: number, fine: (...args: T) => unknown) {
  return (...args: T): never => {
    if (random() >= often) return fine(...args) as never;
    const answer = nonsense[Math.floor(random() * nonsense.length)];
    if (random() < 0.4) throw random() < 0.5 ? new Error('a bug') : answer;
    if (random() < 0.1) return Promise.reject(new Error('a bug')) as never;
    return answer as never;
  };
}

/** It keeps an account of what it has reserved, and fails now and then at every point. */
function unruly(name: string, random: Random, log: string[]): Plugin & { readonly weight: number } {
  const often = random() * 0.15;
  const has = (): boolean => random() < 0.5;
  const account = (what: string) => (_state: CycleState, pod: { readonly name: string }, at: unknown) => {
    log.push(`${what} ${name} ${pod.name} ${typeof at === 'string' ? at : (at as { name: string }).name}`);
  };
  const nothing = (): undefined => undefined;
  // The account is right whatever the point answers in the end.
  const reserve = account('+');
  const unreserve = account('-');
  return {
    name,
    weight: 1,
    readsOtherNodes: has(),
    ...(has() && { sign: now(random, often / 10, () => '') }),
    ...(has() && { preFilter: now(random, often / 3, nothing) }),
    ...(has() && { preFilterAddPod: now(random, often, nothing), preFilterRemovePod: now(random, often, nothing) }),
    ...(has() && { filter: now(random, often / 3, nothing) }),
    ...(has() && { preScore: now(random, often, nothing) }),
    ...(has() && { score: now(random, often / 5, () => 1), normalizeScore: now(random, often, nothing) }),
    reserve: (state, pod, node) => {
      reserve(state, pod, node);
      return now(random, often, nothing)();
    },
    unreserve: (state, pod, nodeName) => {
      unreserve(state, pod, nodeName);
      return now(random, often, nothing)();
    },
  };
}

it('whatever plugins answer or throw, what was reserved is unreserved once, and the picture is as it was', () => {
  const ends = { complete: 0, incomplete: 0, thrown: 0 };
  for (let seed = 1; seed <= 600; seed++) {
    const random = seededRandom(seed);
    const log: string[] = [];
    const picture = new Picture({
      plugins: defaultPlugins,
      extra: [unruly('One', random, log), unruly('Two', random, log)],
      seed,
    });
    const upTo = (most: number): number => Math.floor(random() * (most + 1));
    for (let i = 0; i < 4; i++) picture.node({ name: `n${i}`, cpu: 1 + upTo(3) });
    picture.pod({ name: 'claim', cpu: 1, nominatedNodeName: 'n0', priority: 5 });
    const needed = 1 + upTo(5);
    const members = Array.from({ length: needed + upTo(3) }, (_, i) =>
      picture.pod({ name: `m${i}`, cpu: 1 + (i % 3) * 0.5 }),
    );
    const before = picture.rooms();
    const transaction = picture.cluster.begin();
    const assumed = new Set<string>();
    try {
      const request = { profile: picture.profile, members, needed, groupState: new CycleState() };
      const { placements } = picture.planner.plan(request, transaction);
      ends[placements.length < needed ? 'incomplete' : 'complete']++;
      for (const { pod, nodeName } of placements) assumed.add(`${pod.name} ${nodeName}`);
      // What is still reserved is just what is placed.
      for (const name of ['One', 'Two']) expect(openIn(log, name), `seed ${seed}`).toEqual(assumed);
      picture.planner.unreserve(picture.profile, placements);
    } catch (error) {
      if ((error as Error).name !== 'PluginFailure') throw error;
      ends.thrown++;
    }
    for (const name of ['One', 'Two']) expect(openIn(log, name), `seed ${seed}`).toEqual(new Set());
    transaction.rollback();
    expect(picture.rooms(), `seed ${seed}`).toEqual(before);
    expect([picture.cluster.assumedCount, picture.cluster.isPlanning]).toEqual([0, false]);
  }
  expect(Math.min(...Object.values(ends)), JSON.stringify(ends)).toBeGreaterThan(5);
});

/**
 * What the plugin has reserved and not unreserved. Everything it reserves it is asked to unreserve at most once, and what it never
 * reserved only where another plugin refused first.
 */
function openIn(log: readonly string[], name: string): ReadonlySet<string> {
  const open = new Set<string>();
  const undone = new Set<string>();
  for (const line of log) {
    const [what, whose, pod, node] = line.split(' ');
    if (whose !== name) continue;
    const where = `${pod} ${node}`;
    if (what === '+') {
      expect(open, line).not.toContain(where);
      open.add(where);
      undone.delete(where);
    } else {
      expect(undone, `${line} a second time`).not.toContain(where);
      open.delete(where);
      undone.add(where);
    }
  }
  return open;
}
