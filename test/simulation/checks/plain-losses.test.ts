import { describe, expect, it } from 'vitest';
import { barredNodes, reservedCapacity } from './plain-losses.ts';
import { WrittenRecord, memberOf, nodeFor } from './written-record.ts';

const [lagMs, seenBy] = [1_000, 0];
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
  it('for a minute', () => {
    expect([barredAt(withRejection(), 69_999), barredAt(withRejection(), 70_000)]).toEqual([['a until 70000'], []]);
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

  reserved(now: number, started = ['red']): readonly (readonly [number | undefined, number])[] {
    const reserved = reservedCapacity(this.store.record, new Set(started), { now, seenBy, lagMs });
    return reserved.map(({ priority, until }) => [priority, until]);
  }
}

describe('capacity is reserved for a lost member', () => {
  it('for no longer than it was bound, if no member like it is left', () => {
    expect(new Lossy({ priority: 7 }).reserved(21_000)).toEqual([[7, 31_000]]);
    expect(new Lossy().reserved(32_000)).toEqual([]);
  });

  it('against pods of every priority if the group never started', () => {
    expect(new Lossy({ priority: 7 }).reserved(21_000, [])).toEqual([[undefined, 31_000]]);
  });

  it('for no longer than the grace and the maximum of the administrator', () => {
    expect(new Lossy({ graceSeconds: 5 }).reserved(21_000)).toEqual([[0, 25_000]]);
    // A member like the lost one is bound.
    const endless = new Lossy({ graceSeconds: 2_147_483_647, minMember: 3, names: ['r0', 'r1', 'r2'] });
    expect(endless.reserved(21_000)).toEqual([[0, 320_000]]);
  });

  it('never if it was bound by hand, whatever its annotations say', () => {
    expect(new Lossy({ isByHand: true }).reserved(21_000)).toEqual([]);
  });
});
