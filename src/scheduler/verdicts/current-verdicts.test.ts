import { expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { BindPrecedence } from '../../client/bind-precedence.ts';
import { CallGate } from '../../client/call-gate.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { RateLimiter } from '../../client/rate-limiter.ts';
import type { TransportRequest, TransportResponse } from '../../client/transport.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import { ApiVerdictSink } from '../api/api-verdict-sink.ts';
import { Verdicts } from './verdicts.ts';

interface Sent {
  readonly pod: string;
  readonly message: string;
  readonly atMs: number;
}

/** Verdicts on their way to an API server that accepts every write at once, at the default rate of 50 calls per second. */
class Writing {
  readonly clock = new VirtualClock();
  readonly sent: Sent[] = [];
  readonly verdicts: Verdicts;
  readonly pods: readonly Pod[];
  /** uid -> the pod as the watch shows it */
  readonly #pods: Map<string, Pod>;

  constructor(pods: readonly Pod[]) {
    this.pods = pods;
    const { clock } = this;
    this.#pods = new Map(pods.map((pod) => [pod.uid, pod]));
    const limiter = new RateLimiter({ clock, qps: 50, burst: 100 });
    const gate = new CallGate({ limiter, precedence: new BindPrecedence({ clock }) });
    const transport = { send: (request: TransportRequest) => this.#send(request), close: () => Promise.resolve() };
    const client = new KubeClient({ transport, clock, gate });
    this.verdicts = new Verdicts({
      sink: new ApiVerdictSink({ client, clock, random: () => 0 }),
      events: { record: () => undefined },
      metrics: { verdictReached: () => undefined, verdictWrittenAfter: () => undefined },
      cluster: { openPod: (uid) => this.#pods.get(uid), nominationFor: () => undefined },
      clock,
      logger: silentLogger,
      signal: new AbortController().signal,
    });
  }

  /** Lets time pass, and the watch deliver what was written. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      this.clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  messageOf({ uid }: Pod): string | undefined {
    return this.#pods.get(uid)!.podScheduled?.message;
  }

  #send({ path, body }: TransportRequest): Promise<TransportResponse> {
    const { metadata, status } = JSON.parse(body as string) as {
      readonly metadata: { readonly uid: string };
      readonly status: { readonly conditions: readonly { readonly reason: string; readonly message: string }[] };
    };
    const [{ reason, message }] = status.conditions as [{ readonly reason: string; readonly message: string }];
    this.sent.push({ pod: path.split('/')[6]!, message, atMs: this.clock.monotonic() });
    const pod = this.#pods.get(metadata.uid)!;
    const podScheduled = { status: 'False', reason, message } as const;
    this.#pods.set(pod.uid, { ...pod, resourceVersion: `${pod.resourceVersion}+`, podScheduled });
    setImmediate(() => this.verdicts.podSeen(pod.uid));
    return Promise.resolve({ status: 200, headers: {}, body: emptyBody() });
  }
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array();
}

const missing = (members: number): Verdict => ({
  reason: 'WaitingForGang',
  message: `PodGroup default/kinds has ${members} of the 1500 members it needs to start.`,
  waitsFor: 'members',
  cause: 'PodGroup default/kinds has of the members it needs to start',
});
const doesNotFit: Verdict = { reason: 'Unschedulable', message: 'it does not fit', waitsFor: 'capacity' };

it('a verdict that waits for the rate limit is replaced by a newer one, which the first member has within a second', async () => {
  const writing = new Writing(new Builders().projectedPods(1_500, { name: 'kinds' }));
  const { verdicts, pods, sent } = writing;
  verdicts.report(pods.slice(0, 807), missing(807));
  await writing.pass(4_000);
  verdicts.report(pods, doesNotFit);
  const reportedAt = writing.clock.monotonic();
  await writing.pass(1_000);
  expect(writing.messageOf(pods[0]!)).toBe(doesNotFit.message);
  await writing.pass(34_000);
  const outdated = sent.filter(({ message, atMs }) => message !== doesNotFit.message && atMs > reportedAt);
  // Those that were already on their way.
  expect(outdated.length).toBeLessThanOrEqual(32);
  expect(pods.filter((pod) => writing.messageOf(pod) !== doesNotFit.message)).toEqual([]);
});

it('the member that becomes the first one is written before all others that wait', async () => {
  const writing = new Writing(new Builders().projectedPods(1_500, { name: 'kinds' }));
  const { verdicts, pods } = writing;
  verdicts.report(pods, doesNotFit);
  await writing.pass(1_000);
  const rest = pods.slice(1_000);
  expect(writing.messageOf(rest[0]!)).toBeUndefined();
  verdicts.report(rest, doesNotFit);
  await writing.pass(1_000);
  expect(writing.messageOf(rest[0]!)).toBe(doesNotFit.message);
});
