import { describe, expect, it } from 'vitest';
import { TurnRecord } from './turn-record.ts';
import { WaitingChecker } from './waiting.ts';
import { calmEvidence } from './written-record.ts';

const excuse = 'waits: capacity is reserved for an entity ahead of it';

/** Node `n` of two CPUs, of which `old` uses one, and node `m` of one CPU in another zone. Returns what the checker finds once `act` is done. */
function findings(act: (store: TurnRecord) => void, areZonesPools = false): readonly string[] {
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
    { schedulerNames: ['tutti'], areZonesPools },
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
