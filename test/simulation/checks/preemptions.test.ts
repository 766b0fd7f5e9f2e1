import { describe, expect, it } from 'vitest';
import type { Call } from '../world/call.ts';
import { PreemptionChecker } from './preemptions.ts';
import { calmEvidence, memberOf, nodeFor, WrittenRecord } from './written-record.ts';

const groups = 'podgroups.scheduling.x-k8s.io';

interface PodOptions {
  readonly group?: string;
  readonly node?: string;
  readonly priority?: number;
  readonly never?: boolean;
}

/** Pods on nodes, and what a scheduler sends about them. It has received everything before. */
class Story {
  readonly store = new WrittenRecord();
  readonly violations: string[] = [];
  readonly excuses: string[] = [];
  readonly #started = new Set<string>();
  readonly #checker: PreemptionChecker;
  #committed = 0;
  now = 0;

  constructor() {
    this.#checker = new PreemptionChecker(
      calmEvidence({
        record: this.store.record,
        now: () => this.now,
        started: this.#started,
        violated: (_invariant, what) => this.violations.push(what),
        excused: (reason) => this.excuses.push(reason),
      }),
    );
  }

  node(name: string, pods: number): void {
    this.store.add('nodes', `/${name}`, nodeFor(pods, name));
  }

  group(name: string, minMember: number, spec: object = {}, uid = name): void {
    this.store.add(groups, `default/${name}`, { metadata: { name, uid }, spec: { minMember, ...spec } });
    this.#started.add(uid);
  }

  pod(name: string, options: PodOptions = {}): void {
    this.store.add('pods', `default/${name}`, podOf(name, options));
  }

  /** The store changes the pod. */
  change(name: string, change: (pod: any) => void, by = 'scheduler-1'): void {
    this.store.by = by;
    const pod = structuredClone(this.store.record.get('pods', `default/${name}`)) as any;
    change(pod);
    this.store.change('pods', `default/${name}`, pod);
    this.#commit();
  }

  /** Sends a mark, which the store carries out. */
  mark(name: string, beneficiary: string | undefined = 'pod (default/high)', process = one): void {
    const condition = markFor(beneficiary);
    this.#send('mark', 'PATCH', `${name}/status`, markOf(name, condition), process);
    this.change(name, (pod) => pod.status.conditions.push(condition));
  }

  /** Sends a mark, which the API server rejects for now. */
  rejectMark(name: string): void {
    this.#send('mark', 'PATCH', `${name}/status`, markOf(name, markFor('pod (default/high)')), one, 429);
  }

  delete(name: string, process = one): void {
    this.#send('evict', 'DELETE', name, { preconditions: { uid: name } }, process);
    this.change(name, (pod) => (pod.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'));
  }

  bind(name: string, process = one): Call {
    const body = { metadata: { namespace: 'default', name, uid: name }, target: { name: 'a' } };
    return this.#send('bind', 'POST', `${name}/binding`, body, process);
  }

  read(name: string): void {
    const path = `/api/v1/namespaces/default/pods/${name}`;
    this.#checker.done({ process: one, of: 'read', request: { path }, status: 200 } as unknown as Call);
  }

  settle(): readonly string[] {
    this.#commit();
    this.now = 100_000;
    this.#checker.settled();
    return this.violations;
  }

  #commit(): void {
    for (const change of this.store.record.changes.slice(this.#committed)) {
      this.now = Math.max(this.now, change.at);
      this.#checker.committed(change);
      this.#committed++;
    }
  }

  #send(of: Call['of'], method: string, path: string, body: object, process: Call['process'], status = 200): Call {
    this.#commit();
    const seen = { pods: this.store.version, nodes: this.store.version, podgroups: this.store.version };
    const call = {
      process,
      of,
      request: { method, path: `/api/v1/namespaces/default/pods/${path}`, body: JSON.stringify(body) },
      sentAt: this.now,
      begun: { at: this.now, seen },
      seen,
      views: [seen],
      received: [seen],
      status,
      doneAt: this.now,
    } as unknown as Call;
    this.#checker.sent(call);
    return call;
  }
}

const turn = { type: 'tutti.dev/PredictedStart', status: 'True', reason: 'Draining', message: '' };
const one = processNamed('scheduler-1');

function processNamed(name: string): Call['process'] {
  return { name, role: 'scheduler', isAlive: true, wasStopped: () => false } as unknown as Call['process'];
}

function markFor(beneficiary: string | undefined): object {
  const message = `tutti: preempting to accommodate a higher priority ${beneficiary}`;
  return { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', message };
}

function markOf(uid: string, condition: object): object {
  return { metadata: { uid }, status: { conditions: [condition] } };
}

function podOf(name: string, { group, node, priority = 0, never = false }: PodOptions): any {
  const pod: any = memberOf(group ?? 'none', { name, ...(node !== undefined && { node }) });
  if (group === undefined) delete pod.metadata.labels;
  pod.spec.priority = priority;
  if (never) pod.spec.preemptionPolicy = 'Never';
  return pod;
}

/** Returns a required affinity to the pods of a group on the same node. */
function togetherWith(group: string): object {
  const labelSelector = { matchLabels: { 'scheduling.x-k8s.io/pod-group': group } };
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector };
  return { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
}

/** Node a is full of `low` pods; `high` waits. */
function full({ low = ['low'], group, ...high }: PodOptions & { readonly low?: readonly string[] } = {}): Story {
  const story = new Story();
  story.node('a', low.length);
  for (const name of low) story.pod(name, { node: 'a', ...(group !== undefined && { group }) });
  story.pod('high', { priority: 100, ...high });
  return story;
}

describe('PreemptionChecker', () => {
  it('accepts a victim of lower priority that is marked and deleted, and whose beneficiary then starts', () => {
    const story = full();
    story.mark('low');
    story.delete('low');
    story.store.remove('pods', 'default/low');
    story.change('high', (pod) => (pod.spec.nodeName = 'a'));
    expect(story.settle()).toEqual([]);
  });

  it('reports a beneficiary that does not start, unless something explains it', () => {
    const story = full();
    story.mark('low');
    story.delete('low');
    story.store.remove('pods', 'default/low');
    expect(story.settle()).toEqual([
      'pods were evicted for default/high, which did not start, and nothing explains it',
    ]);
    const displaced = full();
    displaced.mark('low');
    displaced.delete('low');
    displaced.store.by = 'scheduler-1';
    displaced.pod('higher', { priority: 200, node: 'a' });
    expect(displaced.settle()).toEqual([]);
    expect(displaced.excuses).toEqual(['a beneficiary did not start: a higher priority took the capacity']);
  });

  it('accepts a beneficiary that does not start after a pod that its spread counts was relabeled', () => {
    const story = full();
    story.node('b', 1);
    story.pod('other', { node: 'b', group: 'other' });
    const labelSelector = { matchLabels: { 'scheduling.x-k8s.io/pod-group': 'counted' } };
    const spread = {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector,
    };
    story.change('high', (pod) => (pod.spec.topologySpreadConstraints = [spread]), 'world');
    story.mark('low');
    story.delete('low');
    story.store.remove('pods', 'default/low');
    story.change('other', (pod) => (pod.metadata.labels['scheduling.x-k8s.io/pod-group'] = 'counted'), 'world');
    expect(story.settle()).toEqual([]);
    expect(story.excuses).toContain('a beneficiary did not start: a pod that its affinity looks for was relabeled');
  });

  it('reports a victim of equal priority, and a beneficiary that must not preempt', () => {
    const equal = full({ priority: 0 });
    equal.mark('low');
    expect(equal.violations).toEqual(['scheduler-1 preempts default/low of priority 0 for default/high of 0']);
    const never = full({ never: true });
    never.mark('low');
    expect(never.violations).toEqual(['scheduler-1 preempts for default/high, whose preemptionPolicy is Never']);
  });

  it('reports a preemption for a pod that fits, or that does not fit without the victims either', () => {
    const fits = full();
    fits.node('b', 1);
    fits.mark('low');
    fits.delete('low');
    expect(fits.settle()).toContain('scheduler-1 preempted for default/high, which fitted without that');
    const never = full();
    never.pod('other', { node: 'a' });
    never.pod('third', { node: 'a' });
    never.mark('low');
    never.delete('low');
    expect(never.violations).toEqual([
      'scheduler-1 deletes pods for default/high, which does not fit without them either',
    ]);
  });

  it('does not report a preemption for a pod that would fit only where an entity ahead needs the capacity', () => {
    const found = [100, 0].map((priority) => {
      const story = full();
      story.node('b', 1);
      story.pod('big', { priority });
      story.change('big', (pod) => pod.status.conditions.push(turn));
      story.mark('low');
      story.delete('low');
      story.store.remove('pods', 'default/low');
      story.change('high', (pod) => (pod.spec.nodeName = 'a'));
      return story.settle();
    });
    expect(found).toEqual([[], ['scheduler-1 preempted for default/high, which fitted without that']]);
  });

  it('does not report a preemption for a pod that would fit only where a terminating member of no lower priority will be replaced', () => {
    const found = [100, 50].map((priority) => {
      const story = new Story();
      story.node('a', 2);
      story.group('g', 2);
      story.pod('urgent', { group: 'g', node: 'a', priority });
      story.pod('low', { group: 'g', node: 'a' });
      story.pod('high', { priority: 100 });
      story.change('urgent', (pod) => (pod.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'), 'world');
      story.mark('low');
      story.delete('low');
      story.store.remove('pods', 'default/low');
      story.change('high', (pod) => (pod.spec.nodeName = 'a'));
      return story.settle();
    });
    expect(found).toEqual([[], ['scheduler-1 preempted for default/high, which fitted without that']]);
  });

  it('counts a pod with a Binding until the sender gives it up and reads the pod', () => {
    const story = full();
    story.pod('other');
    const call = story.bind('other');
    story.read('other');
    call.isGivenUp = true;
    story.mark('low');
    story.delete('low');
    expect(story.violations).toEqual([
      'scheduler-1 deletes pods for default/high, which does not fit without them either',
    ]);
    const withdrawn = full();
    withdrawn.pod('other');
    withdrawn.bind('other').isGivenUp = true;
    withdrawn.read('other');
    withdrawn.mark('low');
    withdrawn.delete('low');
    expect(withdrawn.violations).toEqual([]);
  });

  it.each([
    ['accepts', 'has', []],
    ['reports', 'has not', ['scheduler-1 deletes pods for default/high, which does not fit without them either']],
  ])('%s a preemption for a pod that must be together with one for which a Binding %s been sent', (_, has, found) => {
    const story = full();
    story.change('high', (pod) => (pod.spec.affinity = togetherWith('red')));
    story.node('b', 1);
    story.store.change('nodes', '/a', nodeFor(2, 'a'));
    story.pod('friend', { group: 'red' });
    if (has === 'has') story.bind('friend');
    story.mark('low');
    story.delete('low');
    expect(story.violations).toEqual(found);
  });

  it('counts the members of a beneficiary that have succeeded', () => {
    const story = full();
    story.pod('waits', { group: 'red', priority: 100 });
    story.pod('done', { group: 'red', priority: 100, node: 'a' });
    story.group('red', 2);
    story.change('done', (pod) => (pod.status.phase = 'Succeeded'));
    story.mark('low', 'podgroup (default/red)');
    story.delete('low');
    expect(story.violations).toEqual([]);
  });

  it('reports a delete before the last mark, and one without a mark', () => {
    const story = full({ low: ['low', 'slow'] });
    story.mark('low');
    story.rejectMark('slow');
    story.delete('low');
    expect(story.violations).toEqual(['scheduler-1 deletes default/low for default/high before slow is marked']);
    const unmarked = full();
    unmarked.delete('low');
    expect(unmarked.violations).toEqual(['scheduler-1 deletes default/low, which it had not marked']);
  });

  it.each([
    ['reports', 2, ['scheduler-1 preempts members of group red for default/high, of which 1 stay, but it needs 2']],
    ['accepts', 1, []],
  ] as const)('%s the eviction of one of two members if the group needs %i', (_what, minMember, found) => {
    const story = full({ low: ['r0', 'r1'], group: 'red' });
    story.store.change('pods', 'default/high', podOf('high', { priority: 100 }));
    story.group('red', minMember);
    story.mark('r0');
    story.delete('r0');
    expect(story.violations).toEqual(found);
  });

  it('reports the eviction of one of two members if they are disrupted together, however few the group needs', () => {
    const story = full({ low: ['r0', 'r1'], group: 'red' });
    story.store.change('pods', 'default/high', podOf('high', { priority: 100 }));
    story.group('red', 1, { disruptionMode: { all: {} } });
    story.mark('r0');
    story.delete('r0');
    const what = 'scheduler-1 preempts members of group red for default/high, of which 1 stay, but it needs all';
    expect(story.violations).toEqual([what]);
  });

  it('accepts a mark that is repeated until the API server accepts it', () => {
    const story = full({ low: ['r0', 'r1'], group: 'red' });
    story.store.change('pods', 'default/high', podOf('high', { priority: 100 }));
    story.group('red', 2);
    story.rejectMark('r0');
    story.mark('r1');
    story.now += 2_000;
    story.mark('r0');
    for (const name of ['r0', 'r1']) story.delete(name);
    expect(story.violations).toEqual([]);
  });

  it('reports a mark that stays, and a group of which only a part was evicted', () => {
    const story = full({ low: ['r0', 'r1'], group: 'red' });
    story.store.change('pods', 'default/high', podOf('high', { priority: 100 }));
    story.group('red', 2);
    for (const name of ['r0', 'r1']) story.mark(name);
    story.delete('r0');
    expect(story.settle().slice(0, 2)).toEqual([
      'pod r1 stays, and its mark "tutti: preempting to accommodate a higher priority pod (default/high)" too',
      '1 members of group red, which was preempted for default/high, are left',
    ]);
  });

  it('excuses a group of which only a part was evicted if its object was then created again', () => {
    const story = full({ low: ['r0', 'r1'], group: 'red' });
    story.store.change('pods', 'default/high', podOf('high', { priority: 100 }));
    story.group('red', 2);
    for (const name of ['r0', 'r1']) story.mark(name);
    story.delete('r0');
    story.group('red', 2, {}, 'red-again');
    expect(story.settle()).not.toContain('1 members of group red, which was preempted for default/high, are left');
    expect(story.excuses).toContain('a group was evicted in part: it was created again');
  });

  it('reports a victim that is promised to another entity of the same priority, unless that gives it up soon', () => {
    const what = 'scheduler-1 preempts default/low for default/other, although it makes way for default/high';
    const promised = (): Story => {
      const story = full();
      story.pod('other', { priority: 100 });
      story.mark('low');
      story.change('high', (pod) => (pod.status.nominatedNodeName = 'a'));
      story.mark('low', 'pod (default/other)');
      return story;
    };
    expect(promised().settle()).toContain(what);
    const story = promised();
    story.change('high', (pod) => (pod.status.nominatedNodeName = ''));
    expect(story.settle()).not.toContain(what);
  });

  it('reports a Binding of a new leader that has not evicted the rest of a group', () => {
    const story = full({ low: ['r0', 'r1'], group: 'red' });
    story.store.change('pods', 'default/high', podOf('high', { priority: 100 }));
    story.group('red', 2);
    story.pod('small', { priority: 100 });
    for (const name of ['r0', 'r1']) story.mark(name);
    story.delete('r0');
    story.bind('small', processNamed('scheduler-2'));
    expect(story.violations).toEqual(['scheduler-2 binds before it has evicted r1, the rest of a group that it found']);
  });
});
