import { beforeEach, describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import type { Pod } from '../../api/pod.ts';
import type { StartConfidence, Verdict, VerdictReason, WaitsFor } from '../../api/verdict.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ConflictError, ForbiddenError, NotFoundError } from '../../client/api-errors.ts';
import type { EventToRecord } from '../../client/event-recorder.ts';
import type { CallOptions, KubeClient } from '../../client/kube-client.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { ApiVerdictSink } from '../api/api-verdict-sink.ts';
import { Verdicts } from './verdicts.ts';

interface Call {
  readonly pod: string;
  readonly body: {
    readonly metadata: { readonly uid: string; readonly resourceVersion: string };
    readonly status: { readonly conditions: readonly Record<string, string>[] };
  };
  readonly lane: CallOptions['lane'];
  readonly heldSince: CallOptions['heldSince'];
  readonly respond: () => void;
  readonly fail: (error: Error) => void;
}

const doesNotFit: Verdict = { reason: 'Unschedulable', message: 'does not fit', waitsFor: 'capacity' };
const details = { status: 0, reason: '', request: '', causes: [] };

let clock: VirtualClock;
let build: Builders;
let pods: Map<string, Pod>;
/** uid -> nomination that its next patch writes */
let nominations: Map<string, string>;
let calls: Call[];
let events: EventToRecord[];
let warnings: string[];
/** The waitsFor of each verdict, and the delay of each write in milliseconds. */
let measured: (string | number)[];
let stop: AbortController;
let writer: Verdicts;

beforeEach(() => {
  clock = new VirtualClock();
  build = new Builders();
  pods = new Map();
  nominations = new Map();
  calls = [];
  events = [];
  warnings = [];
  measured = [];
  stop = new AbortController();
  const patch = (path: string, kind: string, body: unknown, options: CallOptions): Promise<unknown> => {
    expect(kind).toBe('strategic-merge');
    const pod = /^\/api\/v1\/namespaces\/default\/pods\/([^/]+)\/status$/.exec(path)![1]!;
    return new Promise<void>((resolve, reject) => {
      const { lane, heldSince } = options;
      calls.push({ pod, body: body as Call['body'], lane, heldSince, respond: resolve, fail: reject });
    });
  };
  writer = new Verdicts({
    sink: new ApiVerdictSink({ client: { patch } as Pick<KubeClient, 'patch'>, clock, random: () => 0 }),
    events: { record: (event) => void events.push(event) },
    metrics: {
      verdictReached: ({ waitsFor }) => void measured.push(waitsFor),
      verdictWrittenAfter: (ms) => void measured.push(ms),
    },
    clock,
    logger: { ...silentLogger, warn: (message) => void warnings.push(message) },
    cluster: { openPod: (uid) => pods.get(uid), nominationFor: (pod) => nominations.get(pod.uid) },
    signal: stop.signal,
  });
});

function openPods(count: number): Pod[] {
  const made = build.projectedPods(count, { name: 'p' });
  for (const pod of made) pods.set(pod.uid, pod);
  return made;
}

/** Delivers the pod with this condition at a new version. */
function shown(pod: Pod, verdict?: Verdict): Pod {
  const next: Pod = {
    ...pod,
    resourceVersion: `${pod.resourceVersion}+`,
    ...(verdict !== undefined && {
      podScheduled: { status: 'False', reason: verdict.reason, message: verdict.message },
      predictedStart: verdict.predictedStart,
    }),
  };
  pods.set(pod.uid, next);
  writer.podSeen(pod.uid);
  return next;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a verdict', () => {
  it('goes to every member, first and in the faster lane to the one with the lowest uid', () => {
    const [a, b, c] = openPods(3);
    writer.report([c!, a!, b!], doesNotFit);
    expect(calls.map(({ pod, lane }) => [pod, lane])).toEqual([
      ['p-0', 'verdict'],
      ['p-1', 'condition'],
      ['p-2', 'condition'],
    ]);
    expect(events.map(({ reason, note, regarding }) => [regarding.name, reason, note])).toEqual([
      ['p-0', 'FailedScheduling', 'does not fit'],
      ['p-1', 'FailedScheduling', 'does not fit'],
      ['p-2', 'FailedScheduling', 'does not fit'],
    ]);
  });

  it('is a PodScheduled condition, written only to the version of the pod that was seen', () => {
    const [pod] = openPods(1);
    writer.report([pod!], doesNotFit);
    expect(calls[0]!.body).toEqual({
      metadata: { uid: pod!.uid, resourceVersion: pod!.resourceVersion },
      status: {
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message: 'does not fit',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    });
  });

  it('that replaces another verdict is not a transition', async () => {
    const [pod] = openPods(1);
    const reported = shown(pod!, { reason: 'WaitingForGang', message: 'too few', waitsFor: 'members' });
    writer.report([reported], doesNotFit);
    await settle();
    expect(calls[0]!.body.status.conditions[0]).not.toHaveProperty('lastTransitionTime');
  });

  it('that has not changed is neither written nor recorded again', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], doesNotFit);
    calls[0]!.respond();
    await settle();
    const seen = shown(pod!, doesNotFit);
    writer.report([seen], doesNotFit);
    await settle();
    expect([calls.length, events.length]).toEqual([1, 1]);
  });

  it('of any length and with any characters is short and printable, and is not written again', async () => {
    const [pod] = openPods(1);
    const verdict: Verdict = { ...doesNotFit, message: `\u001b[2J\n\ud800${'x'.repeat(200_000)}` };
    writer.report([pod!], verdict);
    const { message } = calls[0]!.body.status.conditions[0]!;
    expect(message).toBe(`\\u001b[2J\\u000a\\ud800${'x'.repeat(1_002)}…`);
    expect(message).toHaveLength(1_024);
    expect(events[0]!.note).toBe(message);
    calls[0]!.respond();
    await settle();
    const seen = shown(pod!, { ...verdict, message: message! });
    writer.report([seen], verdict);
    await settle();
    expect([calls.length, events.length]).toEqual([1, 1]);
  });

  it('that the pod already carries is not written', () => {
    const [pod] = openPods(1);
    const reported = shown(pod!, doesNotFit);
    writer.report([reported], doesNotFit);
    expect(calls).toEqual([]);
  });

  it('that changes during a write is written when the watch delivers the pod', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], doesNotFit);
    writer.report([pod!], { reason: 'Unschedulable', message: 'still does not fit', waitsFor: 'capacity' });
    expect(calls).toHaveLength(1);
    calls[0]!.respond();
    await settle();
    expect(calls).toHaveLength(1);
    shown(pod!, doesNotFit);
    expect(calls[1]!.body.status.conditions[0]!.message).toBe('still does not fit');
  });

  it('is rewritten at once after a conflict if the watch has already delivered the new version', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], doesNotFit);
    const next = shown(pod!);
    expect(calls).toHaveLength(1);
    calls[0]!.fail(new ConflictError('stale', details));
    await settle();
    expect(calls[1]!.body.metadata.resourceVersion).toBe(next.resourceVersion);
  });

  it('is rewritten after a conflict when the watch delivers the new version', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], doesNotFit);
    calls[0]!.fail(new ConflictError('stale', details));
    await settle();
    expect(calls).toHaveLength(1);
    const next = shown(pod!);
    expect(calls[1]!.body.metadata.resourceVersion).toBe(next.resourceVersion);
    expect(warnings).toEqual([]);
  });

  it('is retried after a conflict even if the pod does not change', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], doesNotFit);
    calls[0]!.fail(new ConflictError('quota', details));
    await settle();
    expect(calls).toHaveLength(1);
    clock.advance(1_000);
    expect(calls).toHaveLength(2);
    calls[1]!.respond();
    await settle();
    clock.advance(60_000);
    expect(calls).toHaveLength(2);
  });

  it('is not retried by the timer after the watch has delivered a new version and the rewrite succeeded', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], doesNotFit);
    calls[0]!.fail(new ConflictError('the object has been modified', details));
    await settle();
    shown(pod!);
    calls[1]!.respond();
    await settle();
    clock.advance(60_000);
    expect(calls).toHaveLength(2);
  });

  it('counts its delay behind bindings from its report, also for a retry', async () => {
    const [pod] = openPods(1);
    clock.advance(1_000);
    writer.report([pod!], doesNotFit);
    calls[0]!.fail(new ConflictError('stale', details));
    await settle();
    clock.advance(5_000);
    shown(pod!);
    expect(calls.map(({ heldSince }) => heldSince)).toEqual([1_000, 1_000]);
  });

  it('is dropped when the pod has been bound', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], doesNotFit);
    calls[0]!.fail(new ConflictError('stale', details));
    await settle();
    pods.delete(pod!.uid);
    writer.podSeen(pod!.uid);
    pods.set(pod!.uid, pod!);
    writer.podSeen(pod!.uid);
    expect(calls).toHaveLength(1);
  });

  it('is dropped when the pod is gone', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], doesNotFit);
    calls[0]!.fail(new NotFoundError('gone', details));
    await settle();
    expect(warnings).toEqual([]);
    shown(pod!);
    expect(calls).toHaveLength(1);
  });

  it('is logged and retried while writes are forbidden', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], doesNotFit);
    for (let round = 1; round <= 10; round++) {
      expect(calls).toHaveLength(round);
      calls.at(-1)!.fail(new ForbiddenError('no', details));
      await settle();
      clock.advance(60_000);
      await settle();
    }
    calls.at(-1)!.respond();
    await settle();
    clock.advance(600_000);
    expect(calls).toHaveLength(11);
    expect(new Set(warnings)).toEqual(new Set(['could not write a verdict; retrying']));
  });

  it('is retried for a few pods while writes fail, and for all once one succeeds', async () => {
    const made = openPods(100);
    writer.report(made, doesNotFit);
    while (calls.length > 0) {
      for (const call of calls.splice(0)) call.fail(new ForbiddenError('no', details));
      await settle();
    }
    expect(warnings).toHaveLength(1);
    clock.advance(1_000);
    expect(calls).toHaveLength(20);
    for (const call of calls.splice(0)) call.fail(new ForbiddenError('no', details));
    await settle();
    clock.advance(1_000);
    expect(calls).toEqual([]);
    clock.advance(1_000);
    const written = new Set<string>();
    while (calls.length > 0) {
      for (const { pod, respond } of calls.splice(0)) {
        written.add(pod);
        respond();
      }
      await settle();
    }
    expect(written.size).toBe(100);
  });

  it('is not retried once its pod is gone', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], doesNotFit);
    calls[0]!.fail(new ForbiddenError('no', details));
    await settle();
    pods.delete(pod!.uid);
    clock.advance(1_000);
    await settle();
    expect([calls.length, writer.of(pod!.uid)]).toEqual([1, undefined]);
  });

  it('with new counts only is written once a minute, with the current counts, and is not news', async () => {
    const [pod] = openPods(1);
    const counts = (count: number): Verdict => {
      return { reason: 'Unschedulable', message: `0/${count} nodes`, waitsFor: 'capacity', cause: 'nodes' };
    };
    const reported: string[] = [];
    let seen = pod!;
    for (let second = 0; second < 150; second++) {
      expect(writer.report([seen], counts(second))).toBe(second === 0);
      for (const { body, respond } of calls.splice(0)) {
        reported.push(`${second} s: ${body.status.conditions[0]!.message}`);
        respond();
        await settle();
        seen = shown(seen, counts(second));
      }
      clock.advance(1_000);
    }
    expect(reported).toEqual(['0 s: 0/0 nodes', '60 s: 0/59 nodes', '120 s: 0/119 nodes']);
    expect(events).toHaveLength(1);
  });

  it('with new counts only is written when the minute ends, even without another report', async () => {
    const [pod] = openPods(1);
    const verdict = (message: string): Verdict => ({ ...doesNotFit, message, cause: 'does not fit' });
    writer.report([pod!], verdict('1 of 4'));
    calls[0]!.respond();
    await settle();
    const seen = shown(pod!, verdict('1 of 4'));
    writer.report([seen], verdict('2 of 4'));
    writer.report([seen], verdict('3 of 4'));
    clock.advance(59_999);
    expect(calls).toHaveLength(1);
    clock.advance(1);
    expect(calls[1]!.body.status.conditions[0]!.message).toBe('3 of 4');
  });

  it('with a new cause is written at once and cancels the pending counts', async () => {
    const [pod] = openPods(1);
    const verdict = (message: string, cause: string): Verdict => ({ ...doesNotFit, message, cause });
    writer.report([pod!], verdict('1 of 4', 'a'));
    calls[0]!.respond();
    await settle();
    const seen = shown(pod!, verdict('1 of 4', 'a'));
    writer.report([seen], verdict('2 of 4', 'a'));
    writer.report([seen], verdict('tainted', 'b'));
    expect(calls[1]!.body.status.conditions[0]!.message).toBe('tainted');
    calls[1]!.respond();
    await settle();
    shown(seen, verdict('tainted', 'b'));
    clock.advance(600_000);
    expect([calls.length, events.length]).toEqual([2, 2]);
  });

  it.each(['cannot be written', 'loses a race'])(
    'that %s is written as soon as possible, with the latest counts',
    async (what) => {
      const [pod] = openPods(1);
      const verdict = (message: string): Verdict => ({ ...doesNotFit, message, cause: 'does not fit' });
      writer.report([pod!], verdict('1 of 4'));
      calls[0]!.fail(what === 'loses a race' ? new ConflictError('stale', details) : new ForbiddenError('no', details));
      await settle();
      writer.report([pod!], verdict('2 of 4'));
      if (what === 'loses a race') shown(pod!);
      clock.advance(1_000);
      await settle();
      expect(calls.at(-1)!.body.status.conditions[0]!.message).toBe('2 of 4');
    },
  );

  it('whose counts change during a write is written again a minute later', async () => {
    const [pod] = openPods(1);
    const verdict = (message: string): Verdict => ({ ...doesNotFit, message, cause: 'does not fit' });
    writer.report([pod!], verdict('1 of 4'));
    writer.report([pod!], verdict('2 of 4'));
    calls[0]!.respond();
    await settle();
    shown(pod!, verdict('1 of 4'));
    clock.advance(59_999);
    expect(calls).toHaveLength(1);
    clock.advance(1);
    expect(calls[1]!.body.status.conditions[0]!.message).toBe('2 of 4');
  });

  it('logs no warning when the scheduler stops', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], doesNotFit);
    stop.abort(new Error('stopping'));
    calls[0]!.fail(new Error('stopping'));
    await settle();
    expect(warnings).toEqual([]);
  });

  it.each<[VerdictReason, WaitsFor]>([
    ['WaitingForGang', 'members'],
    ['WaitingForTurn', 'turn'],
  ])('with the reason %s has its own Event reason', (reason, waitsFor) => {
    const [pod] = openPods(1);
    writer.report([pod!], { reason, message: 'not now', waitsFor });
    expect(events[0]).toMatchObject({ type: 'Warning', reason, note: 'not now' });
  });
});

describe('a predicted start', () => {
  const type = 'tutti.dev/PredictedStart';
  /** A verdict that predicts the start at this second of the virtual clock. */
  const startsAt = (seconds: number, confidence: StartConfidence = 'Declared'): Verdict => ({
    ...doesNotFit,
    message: `expected to start after ${seconds} s`,
    cause: 'expected to start',
    predictedStart: { at: Date.UTC(2026, 0, 1) + seconds * 1_000, confidence },
  });
  const conditionOf = ({ body }: Call): unknown => body.status.conditions.find((condition) => condition.type === type);

  /** Responds to the next call and delivers the pod with this verdict. */
  async function written(pod: Pod, verdict: Verdict): Promise<Pod> {
    calls.shift()!.respond();
    await settle();
    return shown(pod, verdict);
  }

  it('is a second condition of the first pod, in whole seconds and not too early', () => {
    const [a, b] = openPods(2);
    writer.report([b!, a!], startsAt(90.5, 'Estimated'));
    expect(calls.map(({ pod, body }) => [pod, body.status.conditions.length])).toEqual([
      ['p-0', 2],
      ['p-1', 1],
    ]);
    expect(conditionOf(calls[0]!)).toEqual({
      type,
      status: 'True',
      reason: 'Estimated',
      message: '2026-01-01T00:01:31Z',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
  });

  it('has no time while it is unknown', () => {
    const [pod] = openPods(1);
    writer.report([pod!], { ...doesNotFit, predictedStart: { confidence: 'Draining' } });
    expect(conditionOf(calls[0]!)).toMatchObject({ reason: 'Draining', message: '' });
  });

  it('is written when the pod lacks it, and not again when the pod has it', async () => {
    const [pod] = openPods(1);
    const { predictedStart: _, ...without } = startsAt(90);
    writer.report([shown(pod!, without)], startsAt(90));
    expect(conditionOf(calls[0]!)).toMatchObject({ message: '2026-01-01T00:01:30Z' });
    const seen = await written(pod!, startsAt(90));
    writer.report([seen], startsAt(90));
    shown(seen);
    expect(calls).toEqual([]);
  });

  it('is removed at once when the verdict has none any more, or another component wrote one', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], startsAt(3_600));
    const seen = await written(pod!, startsAt(3_600));
    const without: Verdict = { ...doesNotFit, cause: 'expected to start' };
    writer.report([seen], without);
    expect(conditionOf(calls[0]!)).toEqual({ $patch: 'delete', type });
    const after = await written(seen, without);
    expect(calls).toEqual([]);
    shown(after, { ...without, predictedStart: { at: 0, confidence: 'Declared' } });
    expect(conditionOf(calls[0]!)).toEqual({ $patch: 'delete', type });
    expect(events).toHaveLength(1);
  });

  it('that changes a little is written once a minute, without an Event', async () => {
    const [pod] = openPods(1);
    const reported: number[] = [];
    let seen = pod!;
    for (let second = 0; second < 150; second++) {
      const verdict = startsAt(7_200 + second);
      writer.report([seen], verdict);
      if (calls.length > 0) {
        reported.push(second);
        seen = await written(seen, verdict);
      }
      clock.advance(1_000);
    }
    expect(reported).toEqual([0, 60, 120]);
    expect(events).toHaveLength(1);
  });

  it.each<[string, Verdict, Verdict]>([
    ['moves by more than a tenth of the remaining time', startsAt(1_000), startsAt(1_101)],
    ['comes earlier', startsAt(1_000), startsAt(899)],
    ['moves when its time has passed', startsAt(0), startsAt(1)],
    ['becomes known', { ...startsAt(0), predictedStart: { confidence: 'Draining' } }, startsAt(1_000)],
    ['comes', { ...doesNotFit, cause: 'expected to start' }, startsAt(1_000)],
  ])('that %s is written at once, without an Event, and then once a minute', async (_, before, after) => {
    const [pod] = openPods(1);
    writer.report([pod!], before);
    const first = await written(pod!, before);
    writer.report([first], after);
    expect(calls).toHaveLength(1);
    const second = await written(first, after);
    writer.report([second], { ...after, predictedStart: { ...after.predictedStart, confidence: 'Estimated' } });
    expect(calls).toEqual([]);
    clock.advance(60_000);
    expect(calls.map(conditionOf)).toMatchObject([{ reason: 'Estimated' }]);
    expect(events).toHaveLength(1);
  });

  it('that moves by a tenth of the remaining time waits', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], startsAt(1_000));
    const seen = await written(pod!, startsAt(1_000));
    writer.report([seen], startsAt(1_100));
    expect(calls).toEqual([]);
  });

  it('that moves during a write is written when the watch delivers the pod', async () => {
    const [pod] = openPods(1);
    writer.report([pod!], startsAt(1_000));
    writer.report([pod!], startsAt(2_000));
    expect(calls).toHaveLength(1);
    await written(pod!, startsAt(1_000));
    expect(conditionOf(calls[0]!)).toMatchObject({ message: '2026-01-01T00:33:20Z' });
  });

  it('goes with the first place in the group: at once to the new first pod, and later from the old one', async () => {
    const [a, b] = openPods(2);
    writer.report([b!], startsAt(1_000));
    const old = await written(b!, startsAt(1_000));
    writer.report([a!, old], startsAt(1_000));
    expect(calls.map(({ pod }) => pod)).toEqual(['p-0']);
    expect(conditionOf(calls[0]!)).toMatchObject({ reason: 'Declared' });
    await written(a!, startsAt(1_000));
    clock.advance(60_000);
    expect(calls.map(({ pod }) => pod)).toEqual(['p-1']);
    expect(conditionOf(calls[0]!)).toEqual({ $patch: 'delete', type });
  });

  it('stays when a nomination of an earlier process is cleared', () => {
    const [pod] = openPods(1);
    const nominated = shown(pod!, startsAt(1_000));
    nominations.set(pod!.uid, '');
    writer.nominationsEnded([nominated]);
    clock.advance(1_000);
    expect(conditionOf(calls[0]!)).toMatchObject({ message: '2026-01-01T00:16:40Z' });
  });
});

describe('a nomination', () => {
  const nominationIn = ({ body }: Call): unknown =>
    (body as { status: { nominatedNodeName?: unknown } }).status.nominatedNodeName;

  it('is written in the patch of the verdict', () => {
    const [a, b] = openPods(2);
    nominations.set(a!.uid, 'node-1');
    writer.report([a!, b!], doesNotFit);
    expect(calls.map(nominationIn)).toEqual(['node-1', undefined]);
  });

  it('does not wait although the verdict is the same, or differs only in its counts', async () => {
    const [pod] = openPods(1);
    const counted = { ...doesNotFit, message: '0/1 nodes', cause: 'nodes' };
    writer.report([pod!], counted);
    calls[0]!.respond();
    await settle();
    const written = shown(pod!, counted);
    nominations.set(pod!.uid, 'node-1');
    writer.report([written], { ...counted, message: '0/2 nodes' });
    expect(calls.slice(1).map(nominationIn)).toEqual(['node-1']);
    calls[1]!.respond();
    await settle();
    nominations.set(pod!.uid, 'node-2');
    writer.report([written], { ...counted, message: '0/2 nodes' });
    expect(calls.slice(2).map(nominationIn)).toEqual(['node-2']);
  });

  it('is cleared with the next verdict, or by itself a second after its reservation has ended', async () => {
    const [pod] = openPods(1);
    nominations.set(pod!.uid, 'node-1');
    writer.report([pod!], doesNotFit);
    calls[0]!.respond();
    await settle();
    nominations.delete(pod!.uid);
    const nominated = shown(pod!, doesNotFit);
    nominations.set(pod!.uid, '');
    writer.nominationsEnded([nominated]);
    expect(calls).toHaveLength(1);
    clock.advance(1_000);
    expect(calls.slice(1).map(nominationIn)).toEqual([null]);
    expect(calls[1]!.body).toMatchObject({ status: { conditions: [{ message: doesNotFit.message }] } });
  });

  it('of an earlier process is cleared with the verdict that the pod carries', () => {
    const [pod] = openPods(1);
    const nominated = shown(pod!, doesNotFit);
    nominations.set(pod!.uid, '');
    writer.nominationsEnded([nominated]);
    clock.advance(1_000);
    expect(calls.map(nominationIn)).toEqual([null]);
    expect(calls[0]!.body).toMatchObject({ status: { conditions: [{ message: doesNotFit.message }] } });
  });
});
