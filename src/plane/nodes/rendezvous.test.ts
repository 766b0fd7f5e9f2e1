import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { podGroupPath, podGroupResource } from '../../api/pod-group.ts';
import { startPlane } from './testing/simulated-plane.ts';

describe('a rendezvous', () => {
  const meeting = { runDuration: '5s', startLatency: '0', rendezvous: '3' };

  test('lets the run time of all members begin with the last one', async () => {
    await using here = await startPlane();
    for (const name of ['r0', 'r1']) await here.createPod(name, { node: 'a', group: 'red', annotations: meeting });
    await here.createPod('stranger', { node: 'a', group: 'blue', annotations: meeting });
    await here.pass(60_000);
    expect(await here.phase('r0')).toBe('Running');
    await here.createPod('r2', { node: 'a', group: 'red', annotations: meeting });
    await here.pass(4_900);
    expect(await Promise.all(['r0', 'r1', 'r2'].map((name) => here.phase(name)))).toEqual(Array(3).fill('Running'));
    await here.pass(100);
    expect(await Promise.all(['r0', 'r1', 'r2'].map((name) => here.phase(name)))).toEqual(Array(3).fill('Succeeded'));
    expect(await here.phase('stranger')).toBe('Running');
  });

  test('does not count a member that is being deleted', async () => {
    await using here = await startPlane();
    const annotations = { ...meeting, rendezvous: '2', termination: '1m' };
    await here.createPod('r0', { node: 'a', group: 'red', annotations });
    await here.pass(1_000);
    await here.deletePod('r0', { gracePeriodSeconds: 60 });
    await here.createPod('r1', { node: 'a', group: 'red', annotations });
    await here.pass(30_000);
    expect(await here.phase('r1')).toBe('Running');
  });

  test('of minMember waits for the PodGroup to appear, and takes the number that it says now', async () => {
    await using here = await startPlane();
    const annotations = { ...meeting, rendezvous: 'minMember' };
    for (const name of ['r0', 'r1']) await here.createPod(name, { node: 'a', group: 'red', annotations });
    await here.pass(10_000);
    expect(await here.phase('r0')).toBe('Running');
    await here.client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition());
    const group = { apiVersion: podGroupResource.apiVersion, kind: 'PodGroup', metadata: { name: 'red' } };
    await here.client.create(podGroupPath('default'), { ...group, spec: { minMember: 3 } });
    await here.pass(10_000);
    expect(await here.phase('r0')).toBe('Running');
    await here.client.patch(podGroupPath('default', 'red'), 'merge', { spec: { minMember: 2 } });
    await here.pass(6_000);
    expect(await here.phase('r0')).toBe('Succeeded');
    expect(await here.phase('r1')).toBe('Succeeded');
    expect(here.problems).toEqual([]);
  });
});

function podGroupDefinition(): unknown {
  return parse(readFileSync('crds/scheduling.x-k8s.io_podgroups.yaml', 'utf8'));
}
