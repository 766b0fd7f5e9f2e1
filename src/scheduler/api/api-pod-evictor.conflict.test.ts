import { describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ConflictError } from '../../client/api-errors.ts';
import { ApiPodEvictor } from './api-pod-evictor.ts';

const pod = new Builders().projectedPod({ name: 'old', nodeName: 'a' });
const never = new AbortController().signal;

function conflict(): ConflictError {
  return Object.assign(Object.create(ConflictError.prototype) as ConflictError, { message: 'conflict' });
}

describe('a conflict on an eviction', () => {
  /** The server responds to the first `conflicts` evictions with a conflict. */
  function release(conflicts: number): { readonly outcome: Promise<string>; sent: () => number } {
    let sent = 0;
    const client = {
      create: () => (++sent <= conflicts ? Promise.reject(conflict()) : Promise.resolve()),
      get: () => Promise.resolve({ metadata: { uid: pod.uid } }),
    };
    const evictor = new ApiPodEvictor({ client: client as never, clock: new VirtualClock(), random: () => 0 });
    return { outcome: evictor.release(pod, { mayBeSent: () => undefined, signal: never }), sent: () => sent };
  }

  it('is repeated once, because a proxy may have sent it', async () => {
    const { outcome, sent } = release(1);
    expect([await outcome, sent()]).toEqual(['going', 2]);
  });

  it('fails if it occurs again and the pod is still there, so that the caller does not wait for the deletion of the pod', async () => {
    const { outcome, sent } = release(Infinity);
    await expect(outcome).rejects.toBeInstanceOf(ConflictError);
    expect(sent()).toBe(2);
  });
});

describe('a conflict on the delete of a victim', () => {
  /** The server responds to each delete with a conflict, and the pod of this name has the uid. */
  function evict(uid: string): Promise<void> {
    const client = { delete: () => Promise.reject(conflict()), get: () => Promise.resolve({ metadata: { uid } }) };
    const evictor = new ApiPodEvictor({ client: client as never, clock: new VirtualClock(), random: () => 0 });
    return evictor.evict(pod, { mayBeSent: () => undefined, signal: never });
  }

  it('means that another pod has the name now, if it has another uid', async () => {
    await expect(evict('another')).resolves.toBeUndefined();
  });

  it('does not count as a deleted pod if it is still there: an admission webhook may have sent it', async () => {
    await expect(evict(pod.uid)).rejects.toBeInstanceOf(ConflictError);
  });
});

it('a conflict on the status patch does not count as a deleted pod', async () => {
  const sent: string[] = [];
  const client = {
    patch: () => {
      sent.push('patch');
      return Promise.reject(conflict());
    },
  };
  const evictor = new ApiPodEvictor({ client: client as never, clock: new VirtualClock(), random: () => 0 });
  const terms = { mayBeSent: () => undefined, signal: never };
  await expect(evictor.mark(pod, 'tutti: …', terms)).rejects.toBeInstanceOf(ConflictError);
  expect(sent).toEqual(['patch', 'patch']);
});
