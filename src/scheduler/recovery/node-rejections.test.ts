import { describe, expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { NodeRejections } from './node-rejections.ts';

const pod = { uid: 'u', template: {} } as Pod;

function failing(...nodes: string[]): NodeRejections {
  const rejections = new NodeRejections({ clock: new VirtualClock(), opened: () => undefined });
  for (const node of nodes) rejections.failed(pod.uid, node);
  return rejections;
}

describe('nodes to which bindings of a pod failed', () => {
  it('are avoided after the second failure', () => {
    expect(failing('a', 'b').avoidedBy(pod)).toEqual([]);
    expect(failing('a', 'b', 'a').avoidedBy(pod)).toEqual(['a']);
    expect(failing('a', 'b', 'a', 'b').avoidedBy(pod)).toEqual(['a', 'b']);
  });

  it('take turns if all are avoided: after another failure, a node goes to the end', () => {
    expect(failing('a', 'a', 'b', 'b', 'a').avoidedBy(pod)).toEqual(['a']);
    expect(failing('a', 'a', 'b', 'b', 'a', 'b').avoidedBy(pod)).toEqual(['a']);
    expect(failing('a', 'a', 'b', 'b', 'a', 'b', 'b').avoidedBy(pod)).toEqual(['a', 'b']);
    expect(failing('a', 'a', 'b', 'b', 'a', 'b', 'b', 'a').avoidedBy(pod)).toEqual(['a']);
  });

  it('take turns for siblings too', () => {
    const rejections = failing('a', 'a');
    for (const node of ['a', 'a', 'b', 'b']) rejections.failed('sibling', node);
    rejections.failed(pod.uid, 'a', ['sibling', 'unknown']);
    expect(rejections.avoidedBy({ ...pod, uid: 'sibling' })).toEqual(['a']);
  });
});

describe('nodes that rejected a pod at admission', () => {
  const mine = { ...pod, namespace: 'mine' };

  it('get no pods like it from its namespace', () => {
    const rejections = failing();
    rejections.notAdmitted(mine, 'a');
    expect([...rejections.barredFor({ ...mine, uid: 'v' })]).toEqual(['a']);
    expect([...rejections.barredFor({ ...mine, template: {} as Pod['template'] })]).toEqual([]);
  });

  it('stay open to pods like it from other namespaces: what the node rejected may be no part of the template', () => {
    const rejections = failing();
    rejections.notAdmitted(mine, 'a');
    const other = { ...mine, namespace: 'other' };
    expect([...rejections.barredFor(other)]).toEqual([]);
    rejections.notAdmitted(other, 'b');
    expect([...rejections.barredFor(mine)]).toEqual(['a']);
    expect([...rejections.barredFor(other)]).toEqual(['b']);
  });

  it('open together once something changes there', () => {
    const rejections = failing();
    for (const namespace of ['mine', 'other']) rejections.notAdmitted({ ...pod, namespace }, 'a');
    rejections.capacityFreed('a');
    for (const namespace of ['mine', 'other']) expect([...rejections.barredFor({ ...pod, namespace })]).toEqual([]);
    expect(rejections.isEmpty).toBe(true);
  });

  it('open after a minute, and after twice as long for each further rejection, until ten minutes pass without one', () => {
    const minute = 60_000;
    const clock = new VirtualClock();
    let opened = 0;
    const rejections = new NodeRejections({ clock, opened: () => opened++ });
    const opensAfter = (ms: number): void => {
      const before = opened;
      rejections.notAdmitted(mine, 'a');
      clock.advance(ms - 1);
      expect([[...rejections.barredFor(mine)], opened]).toEqual([['a'], before]);
      clock.advance(1);
      expect([[...rejections.barredFor(mine)], opened]).toEqual([[], before + 1]);
    };
    opensAfter(minute);
    clock.advance(10 * minute - 1);
    opensAfter(2 * minute);
    clock.advance(10 * minute);
    opensAfter(minute);
    rejections.notAdmitted(mine, 'a');
    rejections.nodeChanged('a');
    opensAfter(minute);
    expect(opened).toBe(5);
    clock.advance(60 * minute);
    expect([opened, clock.untilNextTimer()]).toEqual([5, undefined]);
  });
});
