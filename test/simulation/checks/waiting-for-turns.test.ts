import { describe, expect, it } from 'vitest';
import type { Obstacles } from './capacity-of-others.ts';
import { TurnRecord } from './turn-record.ts';
import { WaitingChecker } from './waiting.ts';
import { calmEvidence } from './written-record.ts';

const excuse = 'waits: capacity is reserved for an entity ahead of it';

/** Node `n` of two CPUs, of which `old` uses one, and node `m` of one CPU in another zone. Returns what the checker finds once `act` is done. */
function findings(act: (store: TurnRecord) => void, obstacles: Obstacles = {}): readonly string[] {
  const store = new TurnRecord();
  store.at = 0;
  store.node('n', 2_000);
  store.node('m', 1_000, 'b');
  store.pod('old', { milliCpu: 1_000, node: 'n' });
  act(store);
  const found: string[] = [];
  new WaitingChecker(
    calmEvidence({
      record: store.record,
      now: () => 60_000,
      violated: (invariant, what) => found.push(`${invariant} ${what}`),
      excused: (reason) => found.push(reason),
    }),
    { schedulerNames: ['tutti'], ...obstacles },
  ).settled();
  return found;
}

const behind = { milliCpu: 500, zone: 'a', reason: 'WaitingForTurn' };

describe('WaitingChecker', () => {
  it('excuses a pod that fits only where an entity ahead of it needs the capacity', () => {
    const found = findings((store) => {
      store.pod('big', { milliCpu: 2_000, start: 'draining' });
      store.pod('small', behind);
    });
    expect(found).toEqual([excuse]);
  });

  it('reports a pod that also fits beside what the entity ahead needs', () => {
    const found = findings((store) => {
      store.pod('big', { milliCpu: 2_000, start: 'draining' });
      store.pod('small', { milliCpu: 500, reason: 'WaitingForTurn' });
    });
    expect(found).toEqual([expect.stringContaining('I5 pod small waits, though it fits')]);
  });

  it('reports a pod that is ahead of the entity with the turn, by priority or by age', () => {
    const byPriority = findings((store) => {
      store.pod('big', { milliCpu: 2_000, start: 'draining' });
      store.pod('small', { ...behind, priority: 10 });
    });
    const byAge = findings((store) => {
      store.pod('small', { ...behind, reason: 'Unschedulable' });
      store.at = 5_000;
      store.pod('big', { milliCpu: 2_000, start: 'draining' });
    });
    expect(byPriority).toContainEqual(expect.stringContaining('I5 pod small waits, though it fits'));
    expect(byAge).toEqual([expect.stringContaining('I5 pod small waits, though it fits')]);
  });

  it('excuses a member beyond the quorum while another one has a turn', () => {
    const found = findings((store) => {
      store.group('red', 1);
      store.pod('r0', { milliCpu: 0, node: 'n', group: 'red' });
      store.pod('r1', { milliCpu: 2_000, group: 'red', start: 'draining' });
      store.pod('r2', { ...behind, group: 'red' });
    });
    expect(found).toEqual([excuse]);
  });

  it('excuses a pod if the entity ahead of it fits only with a node that rejects Bindings', () => {
    const found = findings(
      (store) => {
        store.group('red', 3);
        for (const name of ['r0', 'r1', 'r2']) store.pod(name, { milliCpu: 1_000, group: 'red', start: 'draining' });
        store.pod('small', behind);
      },
      { forbiddenNode: 'm' },
    );
    expect(found).toEqual([excuse]);
  });

  it('reports a pod that waits for its turn while no entity has one', () => {
    const found = findings((store) => store.pod('small', { ...behind, milliCpu: 1_500 }));
    expect(found).toEqual(['I5 pod small waits for its turn, but no entity ahead has one']);
  });

  it('reports a pod behind a turn that states to be unschedulable', () => {
    const found = findings((store) => {
      store.pod('big', { milliCpu: 2_000, start: 'draining' });
      store.pod('small', { ...behind, reason: 'Unschedulable' });
    });
    expect(found).toEqual([excuse, 'I5 pod small waits for its turn, but states Unschedulable: no capacity']);
  });
});
