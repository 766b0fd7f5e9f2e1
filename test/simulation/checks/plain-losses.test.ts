import { describe, expect, it } from 'vitest';
import { barredFor, barredNodes, reservedCapacity } from './plain-losses.ts';
import { plainPod } from './plain-objects.ts';
import { WrittenRecord, memberOf, nodeFor } from './written-record.ts';

const [lagMs, seenBy, knownFrom] = [1_000, 0, 0];
const isStartMissed = (): boolean => false;
const group = 'podgroups.scheduling.x-k8s.io';

function withRejection(): WrittenRecord {
  const store = new WrittenRecord();
  store.add('nodes', '/a', nodeFor(5));
  const member = memberOf('red', { name: 'r', node: 'a' });
  store.add('pods', 'default/other', {
    ...memberOf('blue', { name: 'other', node: 'a' }),
    status: { phase: 'Running' },
  });
  store.add('pods', 'default/r', member);
  store.at = 10_000;
  store.change('pods', 'default/r', { ...member, status: { phase: 'Failed', reason: 'OutOfcpu' } });
  return store;
}

function barredAt(store: WrittenRecord, now: number): readonly string[] {
  return barredNodes(store.record, { now, seenBy, lagMs }).map(({ node, until }) => `${node} until ${until}`);
}

describe('a node that rejected a pod is barred', () => {
  it('for a minute after the scheduler has received the rejection', () => {
    expect([barredAt(withRejection(), 70_999), barredAt(withRejection(), 71_000)]).toEqual([['a until 71000'], []]);
  });

  it('until it changes, if the scheduler cannot have received the change first and must have received it by now', () => {
    for (const [changesAt, now, isBarred] of [
      [20_000, 22_000, false],
      [20_000, 20_500, true],
      [10_500, 22_000, true],
    ] as const) {
      const store = withRejection();
      store.at = changesAt;
      store.change('nodes', '/a', nodeFor(6));
      expect([changesAt, now, barredAt(store, now).length]).toEqual([changesAt, now, Number(isBarred)]);
    }
  });

  it('for pods of the same namespace and template only, and by the number of their rejections only', () => {
    const store = withRejection();
    const same: any = memberOf('blue', { name: 'waits' });
    const large = { ...same, spec: { ...same.spec, containers: [{ resources: { requests: { cpu: '1' } } }] } };
    const other = { ...same, metadata: { ...same.metadata, namespace: 'tenant', uid: 'other' } };
    const closedTo = (pod: any, now: number): readonly string[] =>
      barredFor(barredNodes(store.record, { now, seenBy, lagMs }), [plainPod(pod)]);
    expect([same, other, large].map((pod) => closedTo(pod, 69_999))).toEqual([['a'], [], []]);
    store.at = 80_000;
    const bound = { ...other, spec: { ...other.spec, nodeName: 'a' } };
    store.add('pods', 'tenant/waits', bound);
    store.change('pods', 'tenant/waits', { ...bound, status: { phase: 'Failed', reason: 'OutOfcpu' } });
    expect([same, other].map((pod) => closedTo(pod, 140_999))).toEqual([[], ['a']]);
    expect(closedTo(other, 141_000)).toEqual([]);
  });

  it('even if a field changes that scheduling does not read', () => {
    const store = withRejection();
    store.at = 20_000;
    store.change('nodes', '/a', { ...nodeFor(5), metadata: { name: 'a', annotations: { beat: '1' } } });
    expect(barredAt(store, 30_000)).toHaveLength(1);
  });

  it('until a running pod leaves it', () => {
    const store = withRejection();
    store.at = 20_000;
    store.remove('pods', 'default/other');
    expect(barredAt(store, 30_000)).toEqual([]);
  });
});

/** A group of two, of which one member was bound for 10 s and is lost at 20 s. */
class Lossy {
  readonly store = new WrittenRecord();

  constructor({ graceSeconds = 60, isByHand = false, priority = 0, minMember = 2, names = ['r0', 'r1'] } = {}) {
    const { store } = this;
    const spec = { minMember, repairGraceSeconds: graceSeconds };
    store.add(group, 'default/red', { metadata: { name: 'red', uid: 'red' }, spec });
    for (const name of names) {
      const of = (node?: string): any => {
        const member: any = memberOf('red', { name, ...(node !== undefined && { node }) });
        const containers = [{ resources: { requests: { cpu: name === 'r0' ? '2' : '1' } } }];
        return { ...member, spec: { ...member.spec, priority, containers } };
      };
      store.at = 10_000;
      if (isByHand) store.add('pods', `default/${name}`, of('a'));
      else {
        store.add('pods', `default/${name}`, of());
        store.change('pods', `default/${name}`, of('a'));
      }
    }
    store.at = 20_000;
    store.remove('pods', 'default/r1');
  }

  reserved(
    now: number,
    started = ['red'],
    known = knownFrom,
    isMissed = false,
  ): readonly (readonly [number | undefined, number])[] {
    const past = { now, seenBy, lagMs, knownFrom: known, isStartMissed: () => isMissed };
    const reserved = reservedCapacity(this.store.record, new Set(started), past);
    return reserved.map(({ priority, until }) => [priority, until]);
  }
}

describe('capacity is reserved for a lost member', () => {
  it('for no longer than it was bound, if no member like it is left', () => {
    expect(new Lossy({ priority: 7 }).reserved(21_000)).toEqual([[7, 31_000]]);
    expect(new Lossy().reserved(32_000)).toEqual([]);
  });

  it('against pods of every priority if the group never started, or the scheduler cannot know that it has', () => {
    expect(new Lossy({ priority: 7 }).reserved(21_000, [])).toEqual([[undefined, 31_000]]);
    expect(new Lossy({ priority: 7 }).reserved(21_000, ['red'], knownFrom, true)).toEqual([[undefined, 31_000]]);
  });

  it('for no longer than the grace period and the maximum of the administrator', () => {
    expect(new Lossy({ graceSeconds: 5 }).reserved(21_000)).toEqual([[0, 25_000]]);
    // A member like the lost one is bound.
    const endless = new Lossy({ graceSeconds: 2_147_483_647, minMember: 3, names: ['r0', 'r1', 'r2'] });
    expect(endless.reserved(21_000)).toEqual([[0, 320_000]]);
  });

  it('never if it was bound by hand, whatever its annotations say', () => {
    expect(new Lossy({ isByHand: true }).reserved(21_000)).toEqual([]);
  });

  it('never if it was bound before the oldest scheduler that runs had started', () => {
    expect([10_000, 10_001].map((known) => new Lossy().reserved(21_000, ['red'], known).length)).toEqual([1, 0]);
  });

  it('until other pods have left too little on its node, even if they leave again', () => {
    const takes = (cpu: string, { group: name = 'blue', at = 22_000, node = nodeFor(9) } = {}): Lossy => {
      const lossy = new Lossy();
      const { store } = lossy;
      store.at = 5_000;
      store.add('nodes', '/a', node);
      store.at = at;
      const pod: any = memberOf(name, { name: 'taker', node: 'a' });
      store.add('pods', 'default/taker', {
        ...pod,
        spec: { ...pod.spec, containers: [{ resources: { requests: { cpu } } }] },
      });
      store.at = at + 1_000;
      store.remove('pods', 'default/taker');
      return lossy;
    };
    // The node has 8 CPUs; 2 are in use, and the lost member had 1.
    const isReserved = (lossy: Lossy): boolean => lossy.reserved(25_000).length === 1;
    expect([takes('5'), takes('6')].map(isReserved)).toEqual([true, false]);
    // The replacement; before the scheduler must have seen the loss; not seen yet.
    const others = [takes('6', { group: 'red' }), takes('6', { at: 20_500 }), takes('6', { at: 24_500 })];
    expect(others.map(isReserved)).toEqual([true, true, true]);
    // The reservation may be on another node, because this one is closed or has changed.
    const closed: any = { ...nodeFor(9), spec: { unschedulable: true } };
    const changed = takes('6');
    changed.store.at = 24_000;
    changed.store.change('nodes', '/a', nodeFor(8));
    expect([takes('6', { node: closed }), changed].map(isReserved)).toEqual([true, true]);
  });

  it.each([
    { of: 'pods', requests: {}, others: [], expected: 5 },
    { of: 'memory', requests: { memory: '1Gi' }, others: [{}], expected: 5 },
    { of: 'CPU', requests: { cpu: '1' }, others: [{}], expected: 5 },
    { of: 'nothing, if the namespace had enough', requests: { cpu: '1' }, others: [{ cpu: '1' }], expected: 6 },
  ])('in a namespace for no more $of than its members had bound at the same time', ({ requests, others, expected }) => {
    const store = new WrittenRecord();
    const bind = (of: string, name: string, asked: object): void => {
      const pod = (node?: string): any => {
        const member: any = memberOf(of, { name, ...(node !== undefined && { node }) });
        return { ...member, spec: { ...member.spec, containers: [{ resources: { requests: asked } }] } };
      };
      store.add('pods', `default/${name}`, pod());
      store.change('pods', `default/${name}`, pod('a'));
    };
    const spec = { minMember: 4, repairGraceSeconds: 60 };
    for (const name of ['red', 'blue']) store.add(group, `default/${name}`, { metadata: { name, uid: name }, spec });
    others.forEach((asked, i) => bind('green', `other-${i}`, asked));
    // At most 5 members are bound at the same time, and each group loses 3 of 4.
    for (const [of, at] of [
      ['red', 10_000],
      ['blue', 20_000],
    ] as const) {
      store.at = at;
      for (let i = 0; i < 4; i++) bind(of, `${of}-${i}`, requests);
      store.at = at + 10_000;
      for (let i = 1; i < 4; i++) store.remove('pods', `default/${of}-${i}`);
    }
    const past = { now: 30_500, seenBy, lagMs, knownFrom, isStartMissed };
    expect(reservedCapacity(store.record, new Set(['red', 'blue']), past)).toHaveLength(expected);
  });
});
