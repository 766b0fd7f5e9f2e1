import { expect, it } from 'vitest';
import { emptyTimeline, withMessage } from '../../api/timeline/client-timeline.ts';
import { delta, group, snapshot, transition } from '../../api/timeline/testing/builders.ts';
import { TimelineItems } from './timeline-items.ts';

it('an item says what happened, to whom, and how long it had waited', () => {
  const counts = { members: 2, planned: 0, bound: 1, minMember: 2, started: false };
  const timeline = withMessage(
    emptyTimeline,
    snapshot([
      transition(1_000, 'Waiting', { sequence: 1, kind: 'Added' }),
      transition(2_000, 'Partial', { sequence: 2, kind: 'Bound', node: 'n1', counts }),
      transition(3_000, 'Gone', {
        sequence: 3,
        kind: 'Preempted',
        entity: 'pod/u-1',
        by: 'gang/scheduling.k8s.io/x/blue',
      }),
    ]),
  );
  const subject = { kind: 'PodGroup', source: 'scheduling.x-k8s.io', namespace: 'ml', name: 'red' };
  expect(new TimelineItems().take(timeline)).toEqual([
    { sequence: 1, time: '1970-01-01T00:00:01.000Z', subject, event: 'Added', state: 'Waiting', waitedSeconds: 0 },
    {
      ...{ sequence: 2, time: '1970-01-01T00:00:02.000Z', subject, event: 'Bound', state: 'Partial', counts },
      ...{ waitedSeconds: 1, node: 'n1' },
    },
    {
      ...{ sequence: 3, time: '1970-01-01T00:00:03.000Z', event: 'Preempted', state: 'Gone' },
      subject: { kind: 'Pod', namespace: '', name: '', uid: 'u-1' },
      by: { kind: 'PodGroup', source: 'scheduling.k8s.io', namespace: 'x', name: 'blue' },
    },
  ]);
});

it('makes an item again of a run that has grown, but of nothing else, also when the client reads the timeline again', () => {
  const items = new TimelineItems();
  const sequences = (timeline: Parameters<TimelineItems['take']>[0]): unknown =>
    items.take(timeline).map(({ sequence, count, waitedSeconds }) => [sequence, count, waitedSeconds]);
  const rejected = transition(1_000, 'Waiting', { sequence: 1, kind: 'Rejected' });
  const grown = { ...rejected, count: 2, until: 9_000 };
  const first = withMessage(emptyTimeline, snapshot([rejected]));
  expect(sequences(first)).toEqual([[1, undefined, 0]]);
  expect(sequences(first)).toEqual([]);
  const second = withMessage(first, delta(1, [grown, transition(9_500, 'Running', { sequence: 3, kind: 'Bound' })]));
  expect(sequences(second)).toEqual([
    [1, 2, 8],
    [3, undefined, 8.5],
  ]);
  expect(sequences(withMessage(second, snapshot([...second.transitions])))).toEqual([]);
  const other = snapshot([transition(20_000, 'Waiting', { sequence: 1 })], { epoch: 'b', entities: [group('red')] });
  const third = withMessage(second, other);
  expect(sequences(third)).toEqual([[1, undefined, 0]]);
  const next = snapshot([transition(90_000, 'Waiting', { sequence: 1 })], { epoch: 'c', entities: [group('red')] });
  expect(sequences(withMessage(third, next))).toEqual([[1, undefined, 0]]);
});
