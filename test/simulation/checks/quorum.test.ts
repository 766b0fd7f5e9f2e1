import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/embedded/json.ts';
import type { Call } from '../world/call.ts';
import { StoreRecord } from '../world/record.ts';
import { QuorumChecker } from './quorum.ts';

type Process = Call['process'];

/** A store with a group of two on one node, and what the checker says of Bindings that are sent in it. */
class Story {
  readonly violations: string[] = [];
  readonly #record = new StoreRecord();
  readonly #checker = new QuorumChecker({
    record: this.#record,
    now: () => this.#version,
    toldBy: () => 0,
    started: new Set(),
    violated: (_invariant, what) => this.violations.push(what),
    excused: () => undefined,
  });
  #version = 0;

  constructor() {
    this.#add('nodes', '/a', {
      metadata: { name: 'a' },
      status: { allocatable: { cpu: '8', memory: '8Gi', pods: '9' } },
    });
    this.#add('podgroups.scheduling.x-k8s.io', 'default/red', {
      metadata: { name: 'red', uid: 'red' },
      spec: { minMember: 2 },
    });
  }

  pod(name: string, uid = name): void {
    this.#add('pods', `default/${name}`, pod(name, uid));
  }

  remove(name: string): void {
    const key = `default/${name}`;
    const gone = { key, uid: name, object: this.#record.get('pods', key)! };
    this.#note('pods', { type: 'DELETED', object: gone, previous: gone });
  }

  /** Sends a Binding; with `plan` of a plan for two. */
  send(process: Process, uid: string, plan?: string): Call {
    const annotations = {
      'tutti.dev/pod-group-uid': 'red',
      ...(plan !== undefined && { 'tutti.dev/plan': plan, 'tutti.dev/quorum': '2' }),
    };
    const metadata = { namespace: 'default', name: uid.slice(0, 1), uid, annotations };
    const told = { pods: this.#version, nodes: this.#version, podgroups: this.#version };
    const call = {
      process,
      of: 'bind',
      request: { body: JSON.stringify({ metadata, target: { name: 'a' } }) },
      sentAt: this.#version,
      told,
      views: [told],
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

  #add(resource: string, key: string, object: any): void {
    const { metadata } = object;
    const uid = metadata.uid ?? key;
    this.#note(resource, { type: 'ADDED', object: { key, uid, object: object as JsonObject } });
  }

  #note(resource: string, change: any): void {
    const resourceVersion = ++this.#version;
    this.#record.add(resourceVersion, resource, { ...change, resourceVersion }, 'somebody');
  }
}

function pod(name: string, uid: string): JsonObject {
  const labels = { 'scheduling.x-k8s.io/pod-group': 'red' };
  return { metadata: { namespace: 'default', name, uid, labels }, spec: { containers: [{}] } };
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

  it('is seen when Bindings of others have been refused before', () => {
    const story = new Story();
    for (const name of ['x', 'y', 'z']) story.pod(name);
    const one = process('one');
    for (const call of [story.send(one, 'x', 'p'), story.send(one, 'y', 'p')]) story.answer(call, 403);
    story.send(one, 'z');
    expect(story.end()).toEqual([alone('z')]);
  });
});
