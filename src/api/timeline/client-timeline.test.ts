import { describe, expect, it } from 'vitest';
import { emptyTimeline, withMessage } from './client-timeline.ts';
import type { ClientTimeline } from './client-timeline.ts';
import { formatEventId, parseEventId } from './event-id.ts';
import type { TimelineDelta, TimelineMessage, TimelineSnapshot } from './timeline-message.ts';
import type { Transition } from './transition.ts';

function transition(sequence: number, rest: Partial<Transition> = {}): Transition {
  return { sequence, time: sequence, kind: 'Added', entity: 'gang/default/red', state: 'NotReady', ...rest };
}

function snapshot(rest: Partial<TimelineSnapshot> = {}): TimelineSnapshot {
  return {
    ...{ kind: 'snapshot', epoch: 'a', now: 0, isLeading: true, sequence: 0, heldSince: 0, capacity: 3 },
    ...{ entities: [], nodes: [], transitions: [], ...rest },
  };
}

function delta(from: number, sequence: number, rest: Partial<TimelineDelta> = {}): TimelineDelta {
  return {
    ...{ kind: 'delta', epoch: 'a', now: 0, from, sequence },
    ...{ entities: [], nodes: [], removedNodes: [], transitions: [], ...rest },
  };
}

function after(...messages: readonly TimelineMessage[]): ClientTimeline {
  return messages.reduce(withMessage, emptyTimeline);
}

const sequences = ({ transitions }: ClientTimeline): number[] => transitions.map(({ sequence }) => sequence);

describe('a client', () => {
  it('replaces a run that has grown, and holds no more than the server', () => {
    const grown = transition(1, { count: 2, until: 4 });
    const client = after(
      snapshot({ sequence: 1, transitions: [transition(1)] }),
      delta(1, 4, { transitions: [grown, transition(2), transition(3)] }),
    );
    expect(client.transitions).toEqual([grown, transition(2), transition(3)]);
    const later = withMessage(client, delta(4, 5, { transitions: [transition(5)] }));
    expect(sequences(later)).toEqual([2, 3, 5]);
    expect(later.heldSince).toBe(2);
  });

  it('notices that a message is missing, and ignores what follows until a snapshot', () => {
    const client = after(snapshot({ sequence: 1 }), delta(2, 3, { transitions: [transition(3)] }));
    expect(client).toMatchObject({ status: 'outdated', sequence: 1, transitions: [] });
    expect(withMessage(client, delta(3, 4))).toBe(client);
    const resumed = withMessage(client, snapshot({ sequence: 4, after: 1, transitions: [transition(3)] }));
    expect(resumed).toMatchObject({ status: 'current', sequence: 4 });
  });

  it('drops what another leader recorded, and says why there is a gap', () => {
    const client = after(
      snapshot({ sequence: 1, transitions: [transition(1)] }),
      snapshot({ epoch: 'b', transitions: [] }),
    );
    expect(client).toMatchObject({ epoch: 'b', transitions: [], gap: 'NewLeader' });
    const slow = after(
      snapshot(),
      { kind: 'gap', epoch: 'a', now: 1, reason: 'SlowClient' },
      snapshot({ sequence: 9 }),
    );
    expect(slow).toMatchObject({ status: 'current', sequence: 9, gap: 'SlowClient' });
  });

  it('keeps an entity that is gone for as long as it has a transition', () => {
    const subject = { kind: 'PodGroup', namespace: 'default', name: 'red' } as const;
    const gone = { key: 'gang/default/red', subject, state: 'Gone', createdAt: 0 } as const;
    const client = after(
      snapshot(),
      delta(0, 1, { entities: [gone], transitions: [transition(1, { state: 'Gone' })] }),
    );
    expect([...client.entities.keys()]).toEqual(['gang/default/red']);
    const others = [2, 3, 4].map((sequence) => transition(sequence, { entity: 'pod/x' }));
    expect(withMessage(client, delta(1, 4, { transitions: others })).entities.size).toBe(0);
  });

  it('UI16: takes what a newer server says for unknown, not for a failure', () => {
    const newer = JSON.parse(
      JSON.stringify({
        ...snapshot({ sequence: 1 }),
        extra: true,
        entities: [
          { key: 'pod/x', subject: { kind: 'Pod', namespace: 'd', name: 'x' }, state: 'Suspended', createdAt: 0 },
        ],
        transitions: [{ ...transition(1), kind: 'Migrated', state: 'Suspended' }],
      }),
    ) as TimelineSnapshot;
    const client = after(newer);
    expect(client.entities.get('pod/x')!.state).toBe('Unknown');
    expect(client.transitions).toMatchObject([{ kind: 'Unknown', state: 'Unknown' }]);
    const unknownMessage = { kind: 'hint', epoch: 'a', now: 0 } as unknown as TimelineMessage;
    expect(withMessage(client, unknownMessage)).toBe(client);
    const gap = { kind: 'gap', reason: 'constructor', epoch: 'a', now: 0 } as unknown as TimelineMessage;
    expect(withMessage(client, gap).gap).toBe('Unknown');
  });
});

it('an event id names the epoch and the sequence number; any other text is none', () => {
  const id = { epoch: 'mh3x-1k2', sequence: 42 };
  expect(parseEventId(formatEventId(id))).toEqual(id);
  for (const text of ['', 'a', 'a.', '.1', 'a.1.2', 'a.-1', `${'a'.repeat(33)}.1`, 'a.1\n'])
    expect(parseEventId(text)).toBeUndefined();
});
