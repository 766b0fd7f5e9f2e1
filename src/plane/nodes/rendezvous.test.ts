import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { podGroupPath, podGroupResource } from '../../api/pod-group.ts';
import { startPlane } from './testing/simulated-plane.ts';

describe('a rendezvous', () => {
  const meeting = { runDuration: '5s', startLatency: '0', rendezvous: '3' };

  test('starts the run duration of all members when the last one runs', async () => {
    await using plane = await startPlane();
    for (const name of ['r0', 'r1']) await plane.createPod(name, { node: 'a', group: 'red', annotations: meeting });
    await plane.createPod('stranger', { node: 'a', group: 'blue', annotations: meeting });
    await plane.pass(60_000);
    expect(await plane.phase('r0')).toBe('Running');
    await plane.createPod('r2', { node: 'a', group: 'red', annotations: meeting });
    await plane.pass(4_900);
    expect(await Promise.all(['r0', 'r1', 'r2'].map((name) => plane.phase(name)))).toEqual(Array(3).fill('Running'));
    await plane.pass(100);
    expect(await Promise.all(['r0', 'r1', 'r2'].map((name) => plane.phase(name)))).toEqual(Array(3).fill('Succeeded'));
    expect(await plane.phase('stranger')).toBe('Running');
  });

  test('does not count a member that is being deleted', async () => {
    await using plane = await startPlane();
    const annotations = { ...meeting, rendezvous: '2', termination: '1m' };
    await plane.createPod('r0', { node: 'a', group: 'red', annotations });
    await plane.pass(1_000);
    await plane.deletePod('r0', { gracePeriodSeconds: 60 });
    await plane.createPod('r1', { node: 'a', group: 'red', annotations });
    await plane.pass(30_000);
    expect(await plane.phase('r1')).toBe('Running');
  });

  test('of minMember waits until the PodGroup exists, and uses its current minMember', async () => {
    await using plane = await startPlane();
    const annotations = { ...meeting, rendezvous: 'minMember' };
    for (const name of ['r0', 'r1']) await plane.createPod(name, { node: 'a', group: 'red', annotations });
    await plane.pass(10_000);
    expect(await plane.phase('r0')).toBe('Running');
    await plane.client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition());
    const group = { apiVersion: podGroupResource.apiVersion, kind: 'PodGroup', metadata: { name: 'red' } };
    await plane.client.create(podGroupPath('default'), { ...group, spec: { minMember: 3 } });
    await plane.pass(10_000);
    expect(await plane.phase('r0')).toBe('Running');
    await plane.client.patch(podGroupPath('default', 'red'), 'merge', { spec: { minMember: 2 } });
    await plane.pass(6_000);
    expect(await plane.phase('r0')).toBe('Succeeded');
    expect(await plane.phase('r1')).toBe('Succeeded');
    expect(plane.problems).toEqual([]);
  });
});

function podGroupDefinition(): unknown {
  return parse(readFileSync('crds/scheduling.x-k8s.io_podgroups.yaml', 'utf8'));
}
