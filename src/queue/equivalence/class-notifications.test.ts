import { expect, it } from 'vitest';
import type { Verdict } from '../../api/verdict.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { QueuedEntity } from '../queued-entity.ts';
import { ClassNotifications } from './class-notifications.ts';
import type { ClassReport, EquivalenceClass } from './equivalence-class.ts';

function setUp(): { clock: VirtualClock; notified: string[]; notifications: ClassNotifications } {
  const clock = new VirtualClock();
  const notified: string[] = [];
  const notifications = new ClassNotifications({ clock, notify: ({ key }) => void notified.push(key) });
  return { clock, notified, notifications };
}

function reportOf(cause: string): ClassReport {
  const verdict: Verdict = { reason: 'Unschedulable', message: '', waitsFor: 'capacity', cause };
  return { verdict, verdictFor: () => verdict, nodesRevision: 1, changes: 1 };
}

/** A class whose last rejection had the cause `before`. */
function classOf(name: string, size: number): EquivalenceClass {
  const entities = Array.from({ length: size }, (_, i) => ({ key: `${name}${i}` }) as QueuedEntity);
  const made: Partial<EquivalenceClass> = { entities: () => entities.values(), report: reportOf('before') };
  return made as EquivalenceClass;
}

it('notifies a large class a few at a time, and takes turns with a small one', () => {
  const { clock, notified, notifications } = setUp();
  notifications.report(classOf('large', 100), reportOf('after'));
  notifications.report(classOf('small', 3), reportOf('after'));
  expect(notified).toEqual([]);
  clock.advance(1_000);
  expect(notified).toHaveLength(20);
  expect(notified.slice(0, 6)).toEqual(['large0', 'small0', 'large1', 'small1', 'large2', 'small2']);
  clock.advance(60_000);
  expect(notified).toHaveLength(103);
  expect(clock.untilNextTimer()).toBeUndefined();
});

it('notifies all entities of a class whose cause keeps changing', () => {
  const { clock, notified, notifications } = setUp();
  const changing = classOf('x', 50);
  for (let second = 0; second < 5; second++) {
    notifications.report(changing, reportOf(`after ${second}`));
    clock.advance(1_000);
  }
  expect(new Set(notified).size).toBe(50);
  clock.advance(60_000);
  expect(notified.slice(-50)).toEqual(Array.from({ length: 50 }, (_, i) => `x${i}`));
  expect(clock.untilNextTimer()).toBeUndefined();
});

it('notifies no entity when the cause is the same as before', () => {
  const { clock, notified, notifications } = setUp();
  notifications.report(classOf('x', 50), reportOf('before'));
  clock.advance(60_000);
  expect(notified).toEqual([]);
});

it('notifies no entity after stop', () => {
  const { clock, notified, notifications } = setUp();
  notifications.report(classOf('x', 50), reportOf('after'));
  notifications.stop();
  clock.advance(60_000);
  expect(notified).toEqual([]);
});
