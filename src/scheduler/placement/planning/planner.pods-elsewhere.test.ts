import { describe, expect, it } from 'vitest';
import { describeDiagnosis, failureIn } from '../../../framework/diagnosis.ts';
import { openOnePerNode } from '../testing/one-per-node.ts';
import { harnessWith, dryRun } from '../testing/planning.ts';

describe('a plugin that reads other nodes', () => {
  it.each([[false], [true]])('costs no pass over the nodes if it skips all members (with Score: %s)', (scores) => {
    const { harness, calls, filterCalls } = openOnePerNode({ skips: () => true, scores });
    const plan = dryRun(harness, harness.pods(8, { name: 'w', cpu: 1 }));
    expect(plan.assignments).toHaveLength(8);
    expect([calls.filter, calls.score, calls.addPod]).toEqual([0, 0, 0]);
    // PreFilter runs for each member: Skip for one member says nothing about later ones.
    expect(calls.preFilter).toBe(9);
    // Each node once, and after each placement except the last, the node of that placement.
    expect(filterCalls()).toBe(10 + 7);
  });

  it('filters siblings of the pods that it skips', () => {
    const { harness } = openOnePerNode({ skips: ({ labels }) => labels.app === undefined });
    const free = harness.pods(6, { name: 'free', cpu: 1 });
    const single = harness.pods(10, { name: 'single', cpu: 1, labels: { app: 'single' } });
    const plan = dryRun(harness, [...free, ...single]);
    expect(plan.assignments).toHaveLength(16);
    const singles = plan.assignments.filter(({ pod }) => pod.labels.app !== undefined);
    expect(new Set(singles.map(({ nodeName }) => nodeName)).size).toBe(10);
  });

  it('follows each placement through AddPod, without another PreFilter call', () => {
    const { harness, calls } = openOnePerNode();
    const members = harness.pods(10, { name: 'w', cpu: 1, labels: { app: 'w' } });
    const plan = dryRun(harness, members);
    expect(new Set(plan.assignments.map(({ nodeName }) => nodeName)).size).toBe(10);
    expect([calls.preFilter, calls.addPod]).toEqual([1, 10]);
  });

  it('follows placements of members of other pod classes too', () => {
    const { harness, calls } = openOnePerNode();
    const large = harness.pods(5, { name: 'large', cpu: 2, labels: { app: 'w' } });
    const small = harness.pods(6, { name: 'small', cpu: 1, labels: { app: 'w' } });
    expect(dryRun(harness, [...large, ...small.slice(1)]).blocked).toBeUndefined();
    // AddPod runs for each placement, once per pod class.
    expect([calls.preFilter, calls.addPod]).toEqual([2, 20]);
    const plan = dryRun(harness, [...large, ...small]);
    expect(plan.assignments).toHaveLength(10);
    expect(plan.blocked!.pod.name).toBe('small-5');
    expect(describeDiagnosis(plan.blocked!)).toBe('0/10 nodes are available: 10 one per node.');
  });

  it('that fails in AddPod after a placement ends the plan with an error that names it', () => {
    const harness = harnessWith({
      name: 'Broken',
      readsOtherNodes: true,
      sign: () => '',
      preFilter: () => undefined,
      preFilterAddPod: () => {
        throw new Error('a bug');
      },
      preFilterRemovePod: () => undefined,
      filter: () => undefined,
    });
    for (const name of ['a', 'b']) harness.node({ name, cpu: 4 });
    const plan = dryRun(harness, harness.pods(2, { name: 'w', cpu: 1 }));
    expect(failureIn(plan.blocked!)?.message).toBe('Broken failed in AddPod: a bug');
  });

  it('that fails in RemovePod for the owner of a reservation ends the plan with an error that names it', () => {
    const harness = harnessWith({
      name: 'Broken',
      readsOtherNodes: true,
      sign: () => '',
      preFilter: () => undefined,
      preFilterAddPod: () => undefined,
      preFilterRemovePod: () => {
        throw new Error('a bug');
      },
      filter: () => undefined,
    });
    harness.node({ name: 'a', cpu: 4 });
    harness.pod({ name: 'kept', cpu: 1, priority: 10, nominatedNodeName: 'a' });
    const plan = dryRun(harness, harness.pods(1, { name: 'w', cpu: 1 }));
    expect(plan.blocked && failureIn(plan.blocked)?.message).toBe('Broken failed in RemovePod: a bug');
  });

  it('sees the owner of each reservation come and go on the reserved node', () => {
    const there: string[] = [];
    const log: string[] = [];
    const seen: string[] = [];
    const harness = harnessWith({
      name: 'Watching',
      readsOtherNodes: true,
      sign: () => '',
      preFilter: () => undefined,
      preFilterAddPod: (_state, _pod, added, node) => {
        expect(node.pods.has(added.uid)).toBe(true);
        there.push(`${added.name} ${node.name}`);
        log.push(`+${added.name}`);
        return undefined;
      },
      preFilterRemovePod: (_state, _pod, removed, node) => {
        there.splice(there.indexOf(`${removed.name} ${node.name}`), 1);
        log.push(`-${removed.name}`);
        return undefined;
      },
      filter: (_state, _pod, { name }) => void seen.push(`${name}: ${there.filter((at) => at.endsWith(name)).join()}`),
    });
    for (const name of ['a', 'b']) harness.node({ name, cpu: 4 });
    for (const name of ['k0', 'k1']) harness.pod({ name, cpu: 1, priority: 10, nominatedNodeName: 'a' });
    const members = harness.pods(1, { name: 'w', cpu: 1 });
    dryRun(harness, members);
    const ofReservations = log.filter((what) => !what.endsWith('w-0'));
    expect(ofReservations.length).toBeGreaterThan(0);
    expect(ofReservations.filter((what) => what.startsWith('+')).sort()).toEqual(
      ofReservations
        .filter((what) => what.startsWith('-'))
        .map((what) => what.replace('-', '+'))
        .sort(),
    );
    // With and without the owners, because they may or may not arrive.
    expect(seen).toContain('a: ');
    expect(seen).toContain('a: k0 a,k1 a');
    expect(seen.filter((what) => what.startsWith('b'))).not.toContain('b: k0 a,k1 a');
  });

  it('gets no AddPod call for pods that it skips, nor for reservations that a pod need not respect', () => {
    const { harness, calls } = openOnePerNode({ skips: ({ labels }) => labels.app === undefined });
    harness.pod({ name: 'kept', cpu: 1, priority: 10, nominatedNodeName: 'n0' });
    dryRun(harness, harness.pods(2, { name: 'skipped', cpu: 1 }));
    expect(calls.addPod).toBe(0);
    dryRun(harness, harness.pods(2, { name: 'important', cpu: 1, priority: 11, labels: { app: 'w' } }));
    expect(calls.addPod).toBe(2);
  });
});
