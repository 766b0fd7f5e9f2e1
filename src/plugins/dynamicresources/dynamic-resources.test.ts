import { describe, it } from 'vitest';
import { TestScheduler } from '../../testkit/test-scheduler.ts';

const claims = (name: string): object => ({ resourceClaims: [{ name, resourceClaimTemplateName: 'one-gpu' }] });

describe('a pod with resource claims', () => {
  it('is rejected with this reason, whatever capacity is free', async () => {
    const scheduler = new TestScheduler();
    scheduler.setNode({ name: 'a' });
    scheduler.setPod({ name: 'trainer', spec: claims('gpu') });
    await scheduler.expectRejected('trainer', {
      by: 'DynamicResources',
      says: 'resource claims are not supported: the pod has [gpu]',
    });
    scheduler.setPod({ name: 'web' });
    await scheduler.expectBound('web', 'a');
    await scheduler.stop();
  });

  it('makes its gang unschedulable if the quorum needs it', async () => {
    const scheduler = new TestScheduler();
    scheduler.setNode({ name: 'a' });
    scheduler.setGroup({ name: 'train', minMember: 2 });
    scheduler.setPod({ name: 'leader', group: 'train' });
    scheduler.setPod({ name: 'worker', group: 'train', spec: claims('gpu') });
    await scheduler.expectRejected('leader', { by: 'DynamicResources' });
    await scheduler.stop();
  });
});
