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
});
