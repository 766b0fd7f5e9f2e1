import { assert, array, constantFrom, integer, property, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyTimeline, withMessage } from '../../api/timeline/client-timeline.ts';
import { group, snapshot, transition } from '../../api/timeline/testing/builders.ts';
import type { TimelineSnapshot } from '../../api/timeline/timeline-message.ts';
import type { Trace, TraceSpan } from '../../api/timeline/trace.ts';
import type { Transition } from '../../api/timeline/transition.ts';
import { expectValidTrace } from '../../../test/expect/valid-answer.ts';
import { traceOf } from './trace-of-timeline.ts';

function trace(transitions: readonly Transition[], more: Partial<TimelineSnapshot> = {}, from = 0): Trace {
  const made = traceOf(withMessage(emptyTimeline, snapshot(transitions, more)), { isWanted: () => true, from });
  expectValidTrace(made);
  return made;
}

function spansOf({ traceEvents }: Trace): readonly TraceSpan[] {
  return traceEvents.filter((event) => event.ph === 'X');
}

/** Returns the spans of one lane as name, start and duration in milliseconds. */
function shown(made: Trace, pid: number, tid: number): readonly unknown[] {
  const own = spansOf(made).filter((span) => span.pid === pid && span.tid === tid);
  return own.map(({ name, ts, dur }) => [name, ts / 1_000, dur / 1_000]);
}

describe('UI14: a trace', () => {
  const life = [
    transition(10_000, 'NotReady', { kind: 'Added' }),
    transition(12_000, 'Waiting', { kind: 'Ready' }),
    transition(12_500, 'Waiting', {
      kind: 'Rejected',
      waitsFor: 'capacity',
      reason: 'Insufficient cpu',
      count: 3,
      until: 20_000,
    }),
    transition(30_000, 'Starting', { kind: 'Planned' }),
    transition(30_010, 'Partial', { kind: 'Bound', node: 'n1' }),
    transition(30_025, 'Running', { kind: 'Started', node: 'n2' }),
  ];

  it('has a lane for each group, with a span for each time in one state', () => {
    const made = trace(life, { entities: [group('red', { state: 'Running', createdAt: 10_000 })] });
    expect(shown(made, 2, 2)).toEqual([
      ['NotReady', 10_000, 2_000],
      ['Waiting', 12_000, 18_000],
      ['Starting', 30_000, 10],
      ['Partial', 30_010, 15],
      ['Running', 30_025, 69_975],
    ]);
    const names = made.traceEvents.filter(({ name }) => name === 'process_name' || name === 'thread_name');
    expect(names.map(({ pid, tid, args }) => [pid, tid, args])).toEqual([
      [1, 1, { name: 'scheduler' }],
      [1, 1, { name: 'record' }],
      [2, 2, { name: 'ml' }],
      [2, 2, { name: 'group/red' }],
    ]);
  });

  it('marks each event, and the first and the last of a run', () => {
    const instants = trace(life).traceEvents.filter((event) => event.ph === 'i');
    expect(instants.map(({ name, s, ts }) => [name, s, ts / 1_000])).toEqual([
      ['record begins', 'g', 0],
      ['Added', 't', 10_000],
      ['Ready', 't', 12_000],
      ['Rejected', 't', 12_500],
      ['Rejected', 't', 20_000],
      ['Planned', 't', 30_000],
      ['Bound', 't', 30_010],
      ['Started', 't', 30_025],
    ]);
    expect(instants[3]!.args).toEqual({
      ...{ state: 'Waiting', waitsFor: 'capacity', reason: 'Insufficient cpu', count: 3, waitedSeconds: 10 },
    });
    expect(instants.at(-1)!.args).toMatchObject({ waitedSeconds: 20.025, node: 'n2' });
  });

  it('shows the time before the scheduler began to lead as a gap', () => {
    const entities = [group('red', { createdAt: 5_000 }), group('young', { createdAt: 60_000 })];
    const made = trace([transition(70_000, 'Waiting', { kind: 'Rejected' })], { heldSince: 50_000, entities });
    expect(shown(made, 1, 1)).toEqual([
      ['no record', 5_000, 45_000],
      ['recorded', 50_000, 50_000],
    ]);
    expect(shown(made, 2, 2)).toEqual([
      ['no record', 5_000, 65_000],
      ['Waiting', 70_000, 30_000],
    ]);
    expect(shown(made, 2, 3)).toEqual([['Waiting', 60_000, 40_000]]);
    expect(made.traceEvents).toContainEqual(expect.objectContaining({ name: 'record begins', s: 'g', ts: 50_000_000 }));
  });

  it('leaves out what was before the time that the user has asked for', () => {
    const made = trace(life, {}, 30_000);
    expect(shown(made, 2, 2)[0]).toEqual(['Starting', 30_000, 10]);
    expect(made.traceEvents.filter((event) => event.ph !== 'M' && event.cat === 'event')).toHaveLength(3);
    expect(shown(made, 1, 1)).toEqual([['recorded', 30_000, 70_000]]);
  });

  it('has a lane of its own for pods of one name in several namespaces, and none for what is not wanted', () => {
    const pod = (namespace: string, uid: string) =>
      ({
        key: `pod/${uid}`,
        subject: { kind: 'Pod', namespace, name: 'x', uid },
        state: 'Running',
        createdAt: 0,
      }) as const;
    const timeline = withMessage(
      emptyTimeline,
      snapshot([], { entities: [pod('b', '1'), pod('a', '2'), group('red')] }),
    );
    const { traceEvents } = traceOf(timeline, { isWanted: ({ kind }) => kind === 'Pod', from: 0 });
    const lanes = traceEvents.filter(({ name }) => name === 'thread_name').map(({ pid, tid }) => [pid, tid]);
    expect(lanes).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });

  it('has spans that do not overlap in a lane, and ends all of them by now, whatever happens', () => {
    const states = constantFrom('NotReady', 'Waiting', 'Starting', 'Partial', 'Running', 'Gone', 'Failed');
    const steps = array(tuple(integer({ min: 0, max: 40 }), constantFrom('red', 'blue'), states), { maxLength: 40 });
    assert(
      property(steps, integer({ min: 0, max: 900 }), integer({ min: 0, max: 900 }), (given, heldSince, from) => {
        let time = heldSince;
        const transitions = given.map(([pause, name, state]) =>
          transition((time += pause), state, { entity: `gang/ml/${name}` }),
        );
        const entities = ['red', 'blue'].map((name) => group(name, { createdAt: heldSince - 5 }));
        const made = trace(transitions, { heldSince, now: time, entities }, from);
        for (const lane of Object.values(Object.groupBy(spansOf(made), ({ tid }) => tid))) {
          let end = from * 1_000;
          for (const { ts, dur } of lane!) {
            expect(ts).toBeGreaterThanOrEqual(end);
            end = ts + dur;
          }
          expect(end).toBeLessThanOrEqual(Math.max(time, from) * 1_000);
        }
      }),
    );
  });
});
