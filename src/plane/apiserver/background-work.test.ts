import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ApiClient } from './testing/api-client.ts';
import { configMapManifest, configMapsPath, podManifest, podsPath } from './testing/manifests.ts';
import { BackgroundWork } from './background-work.ts';
import type { BackgroundProblem } from './background-work.ts';

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner' };

describe('BackgroundWork', () => {
  it('reports a task that fails, and runs the other tasks', () => {
    const clock = new VirtualClock();
    const problems: BackgroundProblem[] = [];
    const work = new BackgroundWork(clock, (problem) => problems.push(problem));
    const done: string[] = [];
    const broken = new Error('broken');
    work.after(10, 'it could not be done', 'a', () => {
      throw broken;
    });
    work.after(10, 'it could not be done', 'b', () => done.push('b'));
    clock.advance(10);
    expect(done).toEqual(['b']);
    expect(problems).toEqual([{ message: 'it could not be done', subject: 'a', error: broken }]);
    expect(work.attempt('no', 'c', () => 1, 0)).toBe(1);
    expect(
      work.attempt(
        'no',
        'c',
        () => {
          throw broken;
        },
        0,
      ),
    ).toBe(0);
  });
});

describe('the garbage collector', () => {
  it('deletes the other dependents if one of them is protected', async () => {
    const problems: BackgroundProblem[] = [];
    const client = new ApiClient({ onProblem: (problem) => problems.push(problem) });
    const { metadata } = await client.mustCreate(configMapsPath, configMapManifest('owner'));
    const ownerReferences = [{ ...owner, uid: metadata.uid }];
    const protectedPath = '/api/v1/namespaces/default';
    expect((await client.patch(protectedPath, 'merge', { metadata: { ownerReferences } })).status).toBe(200);
    await client.mustCreate(configMapsPath, configMapManifest('owned', {}, { ownerReferences }));

    await client.delete(`${configMapsPath}/owner`);
    client.clock.advance(1);
    expect((await client.get(`${configMapsPath}/owned`)).status).toBe(404);
    expect((await client.get(protectedPath)).body.status.phase).toBe('Active');
    expect(problems).toMatchObject([
      { message: 'cannot delete an object whose owner is gone', subject: 'namespaces//default' },
    ]);
  });
});

describe('the deletion of a namespace', () => {
  it('deletes pods with any grace period', async () => {
    const problems: BackgroundProblem[] = [];
    const client = new ApiClient({ onProblem: (problem) => problems.push(problem) });
    await client.mustCreate('/api/v1/nodes', { metadata: { name: 'n' } });
    await client.mustCreate('/api/v1/namespaces', { metadata: { name: 'team' } });
    const path = podsPath.replace('default', 'team');
    await client.mustCreate(path, podManifest('slow', { nodeName: 'n', terminationGracePeriodSeconds: 9e15 }));
    await client.mustCreate(path, podManifest('waiting'));

    await client.delete('/api/v1/namespaces/team');
    client.clock.advance(1);
    expect(problems).toEqual([]);
    expect((await client.get(`${path}/waiting`)).status).toBe(404);
    const slow = await client.get(`${path}/slow`);
    expect(slow.body.metadata.deletionTimestamp).toBe('9999-12-31T23:59:59Z');

    await client.delete(`${path}/slow`, { gracePeriodSeconds: 0 });
    client.clock.advance(1);
    expect((await client.get('/api/v1/namespaces/team')).status).toBe(404);
  });
});
