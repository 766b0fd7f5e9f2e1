import { Readable } from 'node:stream';
import { explainApiVersion } from '../../src/api/explain/basis.ts';
import type { Explanation } from '../../src/api/explain/explanation.ts';
import { formatEventId } from '../../src/api/timeline/event-id.ts';
import type { TimelineMessage } from '../../src/api/timeline/timeline-message.ts';
import type { DebugEndpoints, DebugRequest, DebugResponse } from '../../src/cli/ui/debug-endpoints.ts';

/** The debug endpoints of a scheduler that says what a test wants it to say. */
export class FakeScheduler implements DebugEndpoints {
  readonly requests: DebugRequest[] = [];
  /** What each new client gets first. */
  greeting: () => readonly TimelineMessage[] = () => [];
  /** Refuses new streams. */
  refusal: { readonly status: number; readonly text: string } | undefined;
  explanation: (query: URLSearchParams) => Explanation | undefined = () => undefined;
  readonly #streams = new Set<Readable>();

  async get(request: DebugRequest): Promise<DebugResponse> {
    this.requests.push(request);
    const { pathname, searchParams } = new URL(request.path, 'http://x');
    if (pathname === '/debug/explain') {
      const found = this.explanation(searchParams);
      if (found === undefined) return plain(404, 'the scheduler knows neither a group nor a pod of this name\n');
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: Readable.from([JSON.stringify(found)]),
      };
    }
    if (this.refusal !== undefined) return plain(this.refusal.status, this.refusal.text);
    const body = new Readable({ read: () => undefined });
    this.#streams.add(body);
    request.signal.addEventListener('abort', () => this.#end(body));
    for (const message of this.greeting()) body.push(encoded(message));
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
  }

  get clients(): number {
    return this.#streams.size;
  }

  /** Sends a message to all clients. */
  send(message: TimelineMessage): void {
    for (const stream of this.#streams) stream.push(encoded(message));
  }

  /** Closes all streams. */
  disconnect(): void {
    for (const stream of this.#streams) this.#end(stream);
  }

  #end(stream: Readable): void {
    this.#streams.delete(stream);
    stream.push(null);
  }
}

function plain(status: number, text: string): DebugResponse {
  return { status, headers: { 'content-type': 'text/plain' }, body: Readable.from([text]) };
}

function encoded(message: TimelineMessage): string {
  const id = 'sequence' in message ? `id: ${formatEventId(message)}\n` : '';
  return `event: ${message.kind}\n${id}data: ${JSON.stringify(message)}\n\n`;
}

/** Returns an explanation of a group that lacks capacity. */
export function lacksCapacity(namespace: string, name: string): Explanation {
  return {
    apiVersion: explainApiVersion,
    kind: 'Explanation',
    basis: { source: 'scheduler', takenAt: '2026-01-01T12:00:00Z', ageSeconds: 0, unknowns: [] },
    subject: { kind: 'PodGroup', source: 'scheduling.x-k8s.io', namespace, name },
    state: 'Waiting',
    waitsFor: 'capacity',
    verdict: { reason: 'Unschedulable', message: '5 of 8 members fit: 12 more cpu needed, 4 free' },
    attempts: 7,
    placed: 5,
    needed: 8,
    blocker: {
      member: `${name}-5`,
      alike: 3,
      requests: { cpu: '4' },
      nodes: 40,
      funnel: [
        funnelRow('TaintToleration', 'UntoleratedTaint', 'untolerated taint', 1, 39),
        funnelRow('NodeResourcesFit', 'InsufficientResource', 'too little cpu', 28, 11),
        funnelRow('', 'TakenBySiblings', 'taken by other members', 11, 0),
      ],
      nearest: [
        {
          node: 'node-7',
          missing: { cpu: '1' },
          rejections: [],
          heldBy: [{ kind: 'PodGroup', namespace: 'ml', name: 'cyan' }],
        },
      ],
    },
    shortages: [{ resource: 'cpu', more: '12', free: '4', left: '4', mostLeft: '2', total: '640' }],
    fitsNow: false,
    withoutOtherPods: 'fits',
    ahead: 1,
    whatHelps: [
      { kind: 'addNodes', count: 1, like: 'node-7' },
      { kind: 'lowerMinMember', to: 5 },
    ],
    errors: [],
  };
}

function funnelRow(
  plugin: string,
  code: 'UntoleratedTaint' | 'InsufficientResource' | 'TakenBySiblings',
  message: string,
  removed: number,
  left: number,
): NonNullable<Explanation['blocker']>['funnel'][number] {
  return { rejections: [{ plugin, code, message }], removed, left };
}
