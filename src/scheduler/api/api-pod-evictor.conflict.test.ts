import { expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ConflictError } from '../../client/api-errors.ts';
import { ApiPodEvictor } from './api-pod-evictor.ts';

it('a conflict on the status patch does not count as a deleted pod', async () => {
  const sent: string[] = [];
  const conflict = Object.assign(Object.create(ConflictError.prototype) as ConflictError, {
    message: 'the object has been modified',
  });
  const client = {
    patch: () => {
      sent.push('patch');
      return Promise.reject(conflict);
    },
    delete: () => {
      sent.push('delete');
      return Promise.resolve();
    },
  };
  const evictor = new ApiPodEvictor({ client: client as never, clock: new VirtualClock(), random: () => 0 });
  const pod = new Builders().projectedPod({ name: 'old', nodeName: 'a' });
  const outcome = await evictor.evict(pod, 'pod default/x', new AbortController().signal).then(
    () => 'done',
    () => 'failed',
  );
  // The pod must be deleted, or the caller must get the error.
  expect(outcome === 'failed' || sent.includes('delete')).toBe(true);
});
