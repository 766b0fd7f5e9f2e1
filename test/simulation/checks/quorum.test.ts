import { describe, expect, it } from 'vitest';
import type { Call } from '../world/call.ts';
import { viewAt } from './plain-group.ts';
import { QuorumChecker } from './quorum.ts';
import { calmEvidence, memberOf, nodeFor, WrittenRecord } from './written-record.ts';

type Process = Call['process'];

/** A store with a group of two on one node, and the findings of the checker for the Bindings sent in it. */
class Story {
  readonly violations: string[] = [];
  /** Milliseconds between the last change and the Bindings. */
  silentFor = 0;
  /** Version that has reached the senders; undefined: the latest. */
  received: number | undefined;
  readonly #store = new WrittenRecord();
  readonly #checker = new QuorumChecker(
    calmEvidence({
      record: this.#store.record,
      now: () => this.#store.version,
      violated: (_invariant, what) => this.violations.push(what),
    }),
  );

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

  /** A member that must be spread over the nodes. */
  spreadPod(name: string): void {
    const member: any = memberOf('red', { name });
    const labelSelector = { matchLabels: member.metadata.labels };
    member.spec.topologySpreadConstraints = [{ topologyKey: 'kubernetes.io/hostname', labelSelector }];
    this.#store.add('pods', `default/${name}`, member);
  }

  /** `inMs`: time after the latest change. */
  addNode(name: string, inMs: number): void {
    this.#store.at = this.#store.version + inMs;
    this.#store.add('nodes', `/${name}`, nodeFor(9, name));
  }

  /** The spec of the member names a gang of Kubernetes itself, although its label names the group. */
  conflict(name: string): void {
    this.#store.add('podgroups.scheduling.k8s.io', 'default/other', {
      metadata: { name: 'other', uid: 'other' },
      spec: { schedulingPolicy: { gang: { minCount: 1 } } },
    });
    const member: any = memberOf('red', { name });
    member.spec.schedulingGroup = { podGroupName: 'other' };
    this.#store.add('pods', `default/${name}`, member);
  }

  resize(minMember: number): void {
    const red = { metadata: { name: 'red', uid: 'red' }, spec: { minMember } };
    this.#store.change('podgroups.scheduling.x-k8s.io', 'default/red', red);
  }

  /** The process has bound the pod. */
  bind({ name: by }: Process, name: string): void {
    this.#store.by = by;
    this.#store.change('pods', `default/${name}`, memberOf('red', { name, node: 'a' }));
  }

  /** `inMs`: time after the latest change. */
  remove(name: string, inMs = 0): void {
    if (inMs > 0) this.#store.at = this.#store.version + inMs;
    this.#store.remove('pods', `default/${name}`);
  }

  get version(): number {
    return this.#store.version;
  }

  /** Sends a Binding; with `plan`, one of a plan for two that may rest on the state at version `madeOf`. */
  send(process: Process, uid: string, plan?: string, madeOf = this.received ?? this.#store.version): Call {
    const annotations = {
      'tutti.dev/pod-group-uid': 'red',
      ...(plan !== undefined && { 'tutti.dev/plan': plan, 'tutti.dev/quorum': '2' }),
    };
    const metadata = { namespace: 'default', name: uid.slice(0, 1), uid, annotations };
    const { version } = this.#store;
    const seen = viewAt(this.received ?? version);
    const call = {
      process,
      of: 'bind',
      request: { path: `/${uid}/binding`, body: JSON.stringify({ metadata, target: { name: 'a' } }) },
      sentAt: version + this.silentFor,
      seen,
      views: [seen, viewAt(madeOf)],
      viewsOf: () => [seen, viewAt(madeOf)],
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

function process(name: string): Process {
  return { name, wasStopped: () => false } as never;
}

const alone = (name: string): string => expect.stringContaining(`plan of ${name} alone`) as string;

describe('QuorumChecker on a Binding without a plan before the group has its quorum', () => {
  it('reports it', () => {
    const story = new Story();
    for (const name of ['x', 'y']) story.pod(name);
    story.send(process('one'), 'x');
    expect(story.end()).toEqual([alone('x')]);
  });

  it('reports it when a stopped process had sent the same Binding before', () => {
    const story = new Story();
    for (const name of ['x', 'y']) story.pod(name);
    const one = process('one');
    story.send(one, 'x');
    Object.assign(one, { wasStopped: () => true });
    story.send(process('two'), 'x');
    expect(story.end()).toEqual([alone('x')]);
  });

  it('reports it when the pod was recreated in between', () => {
    const story = new Story();
    for (const name of ['x', 'y']) story.pod(name);
    const one = process('one');
    story.send(one, 'x');
    story.remove('x');
    story.pod('x', 'x-again');
    story.send(one, 'x-again');
    expect(story.end()).toEqual([alone('x-again')]);
  });

  it('reports it when Bindings of other members were rejected before', () => {
    const story = new Story();
    for (const name of ['x', 'y', 'z']) story.pod(name);
    const one = process('one');
    for (const call of [story.send(one, 'x', 'p'), story.send(one, 'y', 'p')]) story.answer(call, 403);
    story.send(one, 'z');
    expect(story.end()).toEqual([alone('z')]);
  });
});

describe('QuorumChecker on a Binding that completes a quorum', () => {
  /** A Binding of `y` follows one of `x` that was repeated and then rejected. Its sender has not received the new version of `x`. */
  function findings({ isBound }: { isBound: boolean }): readonly string[] {
    const story = new Story();
    for (const name of ['x', 'y']) story.pod(name);
    story.received = story.version;
    const one = process('one');
    story.send(one, 'x', 'p');
    if (isBound) story.bind(one, 'x');
    story.answer(story.send(one, 'x', 'p'), 409);
    story.send(one, 'y', 'q');
    return story.end();
  }

  it('counts the other member if its Binding was rejected only because an earlier one had bound it', () => {
    expect(findings({ isBound: true })).toEqual([]);
    expect(findings({ isBound: false })).toEqual([expect.stringContaining('plan q of group red sent Bindings for 1')]);
  });
});

it('QuorumChecker does not excuse a plan by the loss of a member that its sender had seen long before it planned', () => {
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

describe('QuorumChecker on a plan for two of a group that has been resized', () => {
  it('reports it if its sender had seen the new size when it sent the first Binding', () => {
    const story = new Story();
    for (const name of ['x', 'y', 'z']) story.pod(name);
    story.resize(3);
    for (const name of ['x', 'y', 'z']) story.send(process('one'), name, 'p');
    expect(story.violations).toContainEqual(expect.stringContaining('records a quorum of 2'));
  });

  it('does not report it if its sender may not have read the new size, or had sent a Binding before', () => {
    const story = new Story();
    for (const name of ['x', 'y']) story.pod(name);
    const one = process('one');
    const madeOf = story.version;
    story.resize(1);
    story.send(one, 'x', 'p', madeOf);
    story.send(one, 'y', 'p');
    expect(story.end()).toEqual([]);
  });
});

it('QuorumChecker reports a Binding of a group that was held back for as long as its plan may have taken', () => {
  const story = new Story();
  for (const name of ['x', 'y']) story.pod(name);
  const before = story.version;
  story.conflict('z');
  story.send(process('one'), 'x', 'p', before);
  expect(story.violations).toEqual([]);
  story.send(process('one'), 'y', 'q');
  expect(story.violations).toEqual([
    'one sent a Binding of default/y, although it had seen that a member is in another gang by its spec',
  ]);
});

describe('QuorumChecker on a plan of which one Binding was never sent', () => {
  function withOne(): { story: Story; call: Call; one: Process } {
    const story = new Story();
    for (const name of ['x', 'y']) story.pod(name);
    const one = process('one');
    return { story, call: story.send(one, 'x', 'p'), one };
  }
  const incomplete = expect.stringContaining('plan p of group red sent Bindings for 1 members') as string;

  it('excuses the loss of a member while the Bindings go out, and no later one', () => {
    const lost = withOne();
    lost.story.remove('y', 1_000);
    expect(lost.story.end()).toEqual([]);
    const late = withOne();
    late.story.remove('y', 10_000);
    expect(late.story.end()).toEqual([incomplete]);
  });

  it('excuses a new node while the Bindings go out, if the members are spread over the nodes', () => {
    const even = withOne();
    even.story.addNode('b', 1_000);
    expect(even.story.end()).toEqual([incomplete]);
    const story = new Story();
    for (const name of ['x', 'y']) story.spreadPod(name);
    story.send(process('one'), 'x', 'p');
    story.addNode('b', 1_000);
    expect(story.end()).toEqual([]);
  });

  it('excuses a rejected Binding, unless it was sent again with success', () => {
    const rejected = withOne();
    rejected.story.answer(rejected.call, 403);
    expect(rejected.story.end()).toEqual([]);
    const repeated = withOne();
    repeated.story.answer(repeated.call, 500);
    repeated.story.answer(repeated.story.send(repeated.one, 'x', 'p'), 201);
    expect(repeated.story.end()).toEqual([incomplete]);
  });
});
