import { beforeEach, describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../base/clock.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { WorkBudget } from '../../base/work-budget.ts';
import { finish } from '../../base/yielding.ts';
import { mustRespect } from '../../cluster/reservation.ts';
import type { Reservation } from '../../cluster/reservation.ts';
import { Cluster } from '../../cluster/cluster.ts';
import { PlanReservations } from './plan-reservations.ts';
import { Reservations } from './reservations.ts';

const second = 1000;

let build: Builders;
let clock: VirtualClock;
let cluster: Cluster;
let notifications: string[];
let reservations: Reservations;

beforeEach(() => {
  build = new Builders();
  clock = new VirtualClock();
  cluster = new Cluster(build.resources);
  notifications = [];
  const moveOnEvent: ConstructorParameters<typeof Reservations>[0]['queue']['moveOnEvent'] = (event) => {
    const name = 'pod' in event ? event.pod.name : '';
    const nodeName = cluster.reservationOf(name)?.nodeName ?? 'no node';
    notifications.push(`${event.resource} ${event.action} ${name}, reserved: ${nodeName}`);
  };
  const wake = ({ name }: Pod): void => void notifications.push(`wake ${name}`);
  reservations = new Reservations({ cluster, queue: { moveOnEvent, wake }, clock });
  for (const name of ['a', 'b']) cluster.setNode(build.projectedNode({ name, cpu: 4 }));
});

/** Adds a pod whose uid is its name. */
function pod(name: string, options: PodOptions = {}): Pod {
  const made = build.projectedPod({ name, uid: name, cpu: 1, ...options });
  cluster.setPod(made);
  return made;
}

function nomination(owner: Pod, nodeName: string): Reservation {
  return { kind: 'nomination', owner, nodeName };
}

/** uid -> node with capacity reserved for it */
function reserved(): Record<string, string> {
  const all = cluster.nodes.flatMap((node) => [...node.reservations.keys()].map((uid) => [uid, node.name] as const));
  return Object.fromEntries(all);
}

describe('reserved capacity', () => {
  it('is freed when the time ends; only then are waiting entities and the owner notified', () => {
    reservations.keep(nomination(pod('x'), 'a'), 60 * second);
    clock.advance(60 * second - 1);
    expect([reserved(), notifications]).toEqual([{ x: 'a' }, []]);
    clock.advance(1);
    expect([reserved(), notifications]).toEqual([{}, ['AssignedPod Delete x, reserved: no node', 'wake x']]);
  });

  it('is freed for each of several pods', () => {
    reservations.keep(nomination(pod('x'), 'a'), second);
    reservations.keep(nomination(pod('y'), 'b'), second);
    expect(reserved()).toEqual({ x: 'a', y: 'b' });
    clock.advance(second);
    expect(reserved()).toEqual({});
    expect(notifications).toHaveLength(4);
  });

  it('changes the generation of its node at its start and its end', () => {
    const { generation } = cluster.node('a')!;
    reservations.keep(nomination(pod('x'), 'a'), second);
    const during = cluster.node('a')!.generation;
    clock.advance(second);
    expect(new Set([generation, during, cluster.node('a')!.generation]).size).toBe(3);
  });

  it('replaces the earlier reservation of its owner, whose timer no longer ends it', () => {
    const x = pod('x');
    reservations.keep(nomination(x, 'a'), 60 * second);
    clock.advance(30 * second);
    reservations.keep(nomination(x, 'b'), 60 * second);
    clock.advance(30 * second);
    expect(reserved()).toEqual({ x: 'b' });
    // For the replaced reservation.
    expect(notifications).toEqual(['AssignedPod Delete x, reserved: b']);
    clock.advance(30 * second);
    expect([reserved(), notifications.slice(1)]).toEqual([{}, ['AssignedPod Delete x, reserved: no node', 'wake x']]);
  });

  it('lasts for the whole new time if it is renewed on the same node', () => {
    const reservation = nomination(pod('x'), 'a');
    reservations.keep(reservation, 60 * second);
    clock.advance(30 * second);
    reservations.keep(reservation, 60 * second);
    clock.advance(59 * second);
    expect(reserved()).toEqual({ x: 'a' });
    clock.advance(second);
    expect(reserved()).toEqual({});
  });

  it.each<[string, () => void]>([
    ['is deleted', () => cluster.removePod('x')],
    ['is bound', () => void cluster.setPod(build.projectedPod({ name: 'x', uid: 'x', cpu: 1, nodeName: 'b' }))],
  ])('is freed at once when its owner %s, and its timer then has no effect', (_change, apply) => {
    reservations.keep(nomination(pod('x'), 'a'), second);
    apply();
    expect(reserved()).toEqual({});
    clock.advance(second);
    expect(notifications).toEqual([]);
  });

  it('stays on its node, whatever nomination the API shows for its owner', () => {
    reservations.keep(nomination(pod('x'), 'a'), second);
    pod('x', { nominatedNodeName: 'b' });
    pod('x');
    expect(reserved()).toEqual({ x: 'a' });
  });

  it('leaves no timer behind once all reservations of a batch have ended', () => {
    let running = 0;
    const counting: Clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      setTimer: (ms, callback) => {
        running++;
        const timer = clock.setTimer(ms, () => (running--, callback()));
        return { cancel: () => (running--, timer.cancel()) };
      },
    };
    const wake = (): undefined => undefined;
    reservations = new Reservations({ cluster, queue: { moveOnEvent: wake, wake }, clock: counting });
    const endOf = (owner: string): void => reservations.end(cluster.reservationOf(owner)!);
    reservations.keep(nomination(pod('x'), 'a'), second);
    reservations.keep(nomination(pod('y'), 'b'), second);
    endOf('x');
    expect(running).toBe(1);
    reservations.keep(nomination(pod('y'), 'a'), second);
    expect(running).toBe(1);
    endOf('y');
    expect(running).toBe(0);
    reservations.keep(nomination(pod('z'), 'a'), second);
    reservations.stop();
    expect(running).toBe(0);
  });
});

describe('the reservations of a plan', () => {
  function plan(priority: number, nominations: Record<string, string>, options: PodOptions = {}): PlanReservations {
    const nominated = Object.entries(nominations).map(([name, nodeName]) => ({ pod: pod(name, options), nodeName }));
    const made = new PlanReservations({ priority, nominations: nominated });
    finish(reservations.keepPlan(made, new WorkBudget()));
    return made;
  }

  it('last until the plan ends, and then end together with one event for each node', () => {
    const made = plan(0, { x: 'a', y: 'a', z: 'b' });
    clock.advance(3600 * second);
    expect(reserved()).toEqual({ x: 'a', y: 'a', z: 'b' });
    reservations.endPlan(made);
    expect(reserved()).toEqual({});
    expect(notifications).toEqual([
      expect.stringMatching(/^AssignedPod Delete [xy], reserved: no node$/),
      'AssignedPod Delete z, reserved: no node',
    ]);
  });

  it('do not end one by one', () => {
    plan(0, { x: 'a', y: 'b' });
    reservations.end(cluster.reservationOf('x')!);
    reservations.drop('x', 'nomination');
    expect(reserved()).toEqual({ x: 'a', y: 'b' });
  });

  it("have the priority of the plan, not their owners' own", () => {
    plan(5, { x: 'a' }, { priority: 10 });
    const reservation = cluster.reservationOf('x')!;
    const isKeptOut = (priority: number): boolean => mustRespect(pod('other', { priority }), reservation);
    expect([4, 5, 6, 10].map(isKeptOut)).toEqual([true, true, false, false]);
  });

  it('are the only reservation for a nomination of this scheduler, but not for that of another component', () => {
    const made = plan(0, { x: 'a', y: 'a' });
    pod('x', { nominatedNodeName: 'a' });
    pod('y', { nominatedNodeName: 'b' });
    expect(cluster.nominationFor(cluster.pod('x')!)).toBeUndefined();
    expect(cluster.nominationFor(cluster.pod('y')!)).toBeUndefined();
    reservations.endPlan(made);
    expect(reserved()).toEqual({ y: 'b' });
    expect(cluster.nominationFor(cluster.pod('x')!)).toBe('');
    expect(cluster.nominationFor(cluster.pod('y')!)).toBeUndefined();
  });
});
