import { beforeEach, describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../base/clock.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Reservation } from '../../cluster/reservation.ts';
import { Cluster } from '../../cluster/cluster.ts';
import { Reservations } from './reservations.ts';

const second = 1000;

let build: Builders;
let clock: VirtualClock;
let cluster: Cluster;
let heard: string[];
let reservations: Reservations;

beforeEach(() => {
  build = new Builders();
  clock = new VirtualClock();
  cluster = new Cluster(build.resources);
  heard = [];
  const moveOnEvent: ConstructorParameters<typeof Reservations>[0]['queue']['moveOnEvent'] = (event) => {
    const whose = 'pod' in event ? event.pod.name : '';
    heard.push(
      `${event.resource} ${event.action} ${whose}, who has ${cluster.reservationOf(whose)?.nodeName ?? 'no room'}`,
    );
  };
  const wake = ({ name }: Pod): void => void heard.push(`wake ${name}`);
  reservations = new Reservations({ cluster, queue: { moveOnEvent, wake }, clock });
  for (const name of ['a', 'b']) cluster.setNode(build.projectedNode({ name, cpu: 4 }));
});

/** Its uid is its name. */
function pod(name: string, options: PodOptions = {}): Pod {
  const made = build.projectedPod({ name, uid: name, cpu: 1, ...options });
  cluster.setPod(made);
  return made;
}

function nomination(owner: Pod, nodeName: string): Reservation {
  return { kind: 'nomination', owner, nodeName };
}

/** uid -> node whose room is kept for it */
function kept(): Record<string, string> {
  const all = cluster.nodes.flatMap((node) => [...node.reservations.keys()].map((uid) => [uid, node.name] as const));
  return Object.fromEntries(all);
}

describe('room that is kept', () => {
  it('is free again when the time is over, and only then do those who wait hear of it, its owner in any case', () => {
    reservations.keep([nomination(pod('x'), 'a')], 60 * second);
    clock.advance(60 * second - 1);
    expect([kept(), heard]).toEqual([{ x: 'a' }, []]);
    clock.advance(1);
    expect([kept(), heard]).toEqual([{}, ['AssignedPod Delete x, who has no room', 'wake x']]);
  });

  it('for several pods is free again for each of them', () => {
    reservations.keep([nomination(pod('x'), 'a'), nomination(pod('y'), 'b')], second);
    expect(kept()).toEqual({ x: 'a', y: 'b' });
    clock.advance(second);
    expect(kept()).toEqual({});
    expect(heard).toHaveLength(4);
  });

  it('changes the generation of its node when it comes and when it goes', () => {
    const { generation } = cluster.node('a')!;
    reservations.keep([nomination(pod('x'), 'a')], second);
    const during = cluster.node('a')!.generation;
    clock.advance(second);
    expect(new Set([generation, during, cluster.node('a')!.generation]).size).toBe(3);
  });

  it('takes the place of what its owner had, and an older time that is over does not end it', () => {
    const x = pod('x');
    reservations.keep([nomination(x, 'a')], 60 * second);
    clock.advance(30 * second);
    reservations.keep([nomination(x, 'b')], 60 * second);
    clock.advance(30 * second);
    expect(kept()).toEqual({ x: 'b' });
    // Of the room that is given up for the other.
    expect(heard).toEqual(['AssignedPod Delete x, who has b']);
    clock.advance(30 * second);
    expect([kept(), heard.slice(1)]).toEqual([{}, ['AssignedPod Delete x, who has no room', 'wake x']]);
  });

  it('again in the same place is kept for the whole of its new time', () => {
    const reservation = nomination(pod('x'), 'a');
    reservations.keep([reservation], 60 * second);
    clock.advance(30 * second);
    reservations.keep([reservation], 60 * second);
    clock.advance(59 * second);
    expect(kept()).toEqual({ x: 'a' });
    clock.advance(second);
    expect(kept()).toEqual({});
  });

  it.each<[string, () => void]>([
    ['is gone', () => cluster.removePod('x')],
    ['is on a node', () => void cluster.setPod(build.projectedPod({ name: 'x', uid: 'x', cpu: 1, nodeName: 'b' }))],
  ])('is free at once when its owner %s, and then its time means nothing', (_what, happens) => {
    reservations.keep([nomination(pod('x'), 'a')], second);
    happens();
    expect(kept()).toEqual({});
    clock.advance(second);
    expect(heard).toEqual([]);
  });

  it('stays where it is whatever the API says of its owner’s nomination', () => {
    reservations.keep([nomination(pod('x'), 'a')], second);
    pod('x', { nominatedNodeName: 'b' });
    pod('x');
    expect(kept()).toEqual({ x: 'a' });
  });

  it('leaves nothing behind that waits for its time when all who had it together have ended', () => {
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
    reservations.keep([nomination(pod('x'), 'a'), nomination(pod('y'), 'b')], second);
    endOf('x');
    expect(running).toBe(1);
    reservations.keep([nomination(pod('y'), 'a')], second);
    expect(running).toBe(1);
    endOf('y');
    expect(running).toBe(0);
    reservations.keep([nomination(pod('z'), 'a')], second);
    reservations.stop();
    expect(running).toBe(0);
  });
});
