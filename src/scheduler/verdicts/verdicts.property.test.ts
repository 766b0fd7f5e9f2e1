import { expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import { sameStart } from '../../api/predicted-start.ts';
import type { Verdict } from '../../api/verdict.ts';
import { seededRandom } from '../../base/random.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { runs } from '../../base/testing/runs.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import type { VerdictOutcome } from '../ports.ts';
import { Verdicts } from './verdicts.ts';

/** A pod as the API server has it. */
interface Stored {
  version: number;
  verdict: Verdict | undefined;
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

async function runScenario(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const upTo = (max: number): number => Math.floor(random() * (max + 1));
  const clock = new VirtualClock();
  const build = new Builders();
  /** Pods that the watch has delivered, and changes that it has yet to deliver, in order. */
  const shown = new Map<string, Pod>();
  const undelivered: Pod[] = [];
  const stored = new Map<string, Stored>();
  const assumed = new Set<string>();
  const calls: (() => void)[] = [];
  let isCalm = false;
  // More pods than writes at a time, in some scenarios.
  const first = build.projectedPods(seed % 10 === 0 ? 50 : 3, { name: 'p' });
  const projected = (pod: Pod, { version, verdict }: Stored): Pod => ({
    ...pod,
    resourceVersion: `${version}`,
    podScheduled: verdict && { status: 'False', reason: verdict.reason, message: verdict.message },
    predictedStart: verdict?.predictedStart,
  });
  const change = (pod: Pod, verdict: Verdict | undefined): void => {
    const has = stored.get(pod.uid)!;
    has.version++;
    has.verdict = verdict;
    undelivered.push(projected(pod, has));
  };
  const verdicts = new Verdicts({
    sink: {
      write: (pod, verdict) =>
        new Promise<VerdictOutcome>((resolve, reject) => {
          calls.push(() => {
            const has = stored.get(pod.uid)!;
            const dice = isCalm ? 1 : random();
            if (dice < 0.15) return reject(new Error('not now'));
            if (`${has.version}` !== pod.resourceVersion) return resolve('outdated');
            // A conflict with another cause.
            if (dice < 0.25) return resolve('outdated');
            const isSame =
              has.verdict?.message === verdict.message && sameStart(has.verdict.predictedStart, verdict.predictedStart);
            if (!isSame) change(pod, verdict);
            if (dice < 0.35) return reject(new Error('the response is lost'));
            resolve('written');
          });
        }),
    },
    events: { record: () => undefined },
    metrics: { verdictReached: () => undefined, verdictWrittenAfter: () => undefined },
    cluster: { openPod: (uid) => (assumed.has(uid) ? undefined : shown.get(uid)), nominationFor: () => undefined },
    clock,
    logger: silentLogger,
    signal: new AbortController().signal,
  });
  for (const pod of first) {
    stored.set(pod.uid, { version: 1, verdict: undefined });
    shown.set(pod.uid, projected(pod, stored.get(pod.uid)!));
  }
  const latest = new Map<string, Verdict>();
  const show = (): void => {
    const pod = undelivered.shift();
    if (pod === undefined) return;
    shown.set(pod.uid, pod);
    verdicts.podSeen(pod.uid);
  };
  const respond = (): void => void calls.splice(upTo(calls.length - 1), 1)[0]?.();
  for (let i = 0; i < 60; i++) {
    const dice = random();
    if (dice < 0.25) {
      const cause = `cause ${upTo(2)}`;
      const some = first.filter(() => random() < 0.6);
      const verdict: Verdict = {
        reason: 'Unschedulable',
        message: `${cause}, ${upTo(2)} nodes`,
        waitsFor: 'capacity',
        ...(random() < 0.7 && { cause }),
        ...(random() < 0.3 && { predictedStart: { at: clock.now() + upTo(5) * 20_000, confidence: 'Declared' } }),
      };
      verdicts.report(
        some.map(({ uid }) => shown.get(uid)!),
        verdict,
      );
      const { predictedStart: _, ...ofOthers } = verdict;
      const [lowest] = some.map(({ uid }) => uid).sort();
      for (const { uid } of some) latest.set(uid, uid === lowest ? verdict : ofOthers);
    } else if (dice < 0.5) respond();
    else if (dice < 0.75) show();
    else if (dice < 0.8) {
      const pod = first[upTo(first.length - 1)]!;
      change(pod, stored.get(pod.uid)!.verdict);
    } else if (dice < 0.83) {
      // The pod is assumed for a moment, and then reported again.
      const { uid } = first[upTo(first.length - 1)]!;
      assumed.add(uid);
      verdicts.podSeen(uid);
      if (random() < 0.5) await settle();
      assumed.delete(uid);
      latest.delete(uid);
    } else clock.advance(upTo(5) * 500);
    if (random() < 0.7) await settle();
  }
  isCalm = true;
  for (let i = 0; i < 200; i++) {
    while (calls.length > 0) {
      respond();
      await settle();
    }
    while (undelivered.length > 0) {
      show();
      await settle();
    }
    clock.advance(1000);
    await settle();
  }
  for (const { uid } of first) {
    const verdict = latest.get(uid);
    if (verdict === undefined) continue;
    const { message, predictedStart } = stored.get(uid)!.verdict!;
    expect({ message, predictedStart }, `seed ${seed}`).toEqual({
      message: verdict.message,
      predictedStart: verdict.predictedStart && { ...verdict.predictedStart, at: expect.any(Number) as number },
    });
  }
}

it('every pod ends up with its latest verdict and its entity with the latest start, whatever happens to the writes', async () => {
  for (let seed = 1; seed <= runs(500); seed++) await runScenario(seed);
});
