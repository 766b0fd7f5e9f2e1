import { describe, expect, it } from 'vitest';
import type { Call } from '../world/call.ts';
import { QuorumChecker } from './quorum.ts';
import { WrittenRecord, memberOf, nodeFor } from './written-record.ts';

type Process = Call['process'];

/** A store with a group of two on one node, and what the checker says of Bindings that are sent in it. */
class Story {
  readonly violations: string[] = [];
  /** ms between the last change and the Bindings that are sent. */
  silentFor = 0;
  readonly #store = new WrittenRecord();
  readonly #checker = new QuorumChecker({
    record: this.#store.record,
    now: () => this.#store.version,
    toldBy: () => 0,
    started: new Set(),
    violated: (_invariant, what) => this.violations.push(what),
    excused: () => undefined,
  });

  constructor() {
    this.#store.add('nodes', '/a', nodeFor(9));
    this.#store.add('podgroups.scheduling.x-k8s.io', 'default/red', {
      metadata: { name: 'red', uid: 'red' },
      spec: { minMember: 2 },
    });
  }

  pod(name: string, uid = name): void {
    this.#store.add('pods', `default/${name}`, memberOf('red', { name, uid }));
  }

  remove(name: string): void {
    this.#store.remove('pods', `default/${name}`);
  }

  get version(): number {
    return this.#store.version;
  }

  /** Sends a Binding; with `plan` of a plan for two, which may have been made of what there was at the version `madeOf`. */
  send(process: Process, uid: string, plan?: string, madeOf = this.#store.version): Call {
    const annotations = {
      'tutti.dev/pod-group-uid': 'red',
      ...(plan !== undefined && { 'tutti.dev/plan': plan, 'tutti.dev/quorum': '2' }),
    };
    const metadata = { namespace: 'default', name: uid.slice(0, 1), uid, annotations };
    const viewOf = (version: number): Call['told'] => ({ pods: version, nodes: version, podgroups: version });
    const { version } = this.#store;
    const told = viewOf(version);
    const call = {
      process,
      of: 'bind',
      request: { body: JSON.stringify({ metadata, target: { name: 'a' } }) },
      sentAt: version + this.silentFor,
      told,
      views: [told, viewOf(madeOf)],
    } as unknown as Call;
    this.#checker.sent(call);
    return call;
  }

  answer(call: Call, status: number): void {
    call.status = status;
    this.#checker.done(call);
  }

  end(): readonly string[] {
    this.#checker.settled();
    return this.violations;
  }
}

function process(name: string): { name: string; isAlive: boolean; wasPaused: boolean } & Process {
  return { name, isAlive: true, wasPaused: false } as never;
}

const alone = (name: string): string => expect.stringContaining(`plan of ${name} alone`) as string;

describe('a member that goes without a plan before its group has its quorum', () => {
  it('is seen', () => {
    const story = new Story();
    for (const name of ['x', 'y']) story.pod(name);
    story.send(process('one'), 'x');
    expect(story.end()).toEqual([alone('x')]);
  });

  it('is seen when another process that is gone had sent it as well', () => {
    const story = new Story();
    for (const name of ['x', 'y']) story.pod(name);
    const one = process('one');
    story.send(one, 'x');
    Object.assign(one, { isAlive: false });
    story.send(process('two'), 'x');
    expect(story.end()).toEqual([alone('x')]);
  });

  it('is seen when it was made again meanwhile', () => {
    const story = new Story();
    for (const name of ['x', 'y']) story.pod(name);
    const one = process('one');
    story.send(one, 'x');
    story.remove('x');
    story.pod('x', 'x-again');
    story.send(one, 'x-again');
    expect(story.end()).toEqual([alone('x-again')]);
  });

  it('is seen when Bindings of others have been rejected before', () => {
    const story = new Story();
    for (const name of ['x', 'y', 'z']) story.pod(name);
    const one = process('one');
    for (const call of [story.send(one, 'x', 'p'), story.send(one, 'y', 'p')]) story.answer(call, 403);
    story.send(one, 'z');
    expect(story.end()).toEqual([alone('z')]);
  });
});

it('counts a member of whose end, which was long ago, its sender was told when it had planned', () => {
  const story = new Story();
  for (const name of ['x', 'y']) story.pod(name);
  const madeOf = story.version;
  story.remove('y');
  story.silentFor = 60_000;
  const one = process('one');
  story.answer(story.send(one, 'x', 'p', madeOf), 201);
  story.answer(story.send(one, 'y', 'p', madeOf), 404);
  expect(story.end()).toEqual([]);
});
