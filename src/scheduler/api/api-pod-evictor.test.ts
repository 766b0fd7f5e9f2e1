import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiProxy, statusAnswer } from '../../../test/planes/api-proxy.ts';
import { openEmbeddedPlane } from '../../../test/planes/embedded.ts';
import type { TestPlane } from '../../../test/planes/plane.ts';
import { PodProjector } from '../../api/pod-projector.ts';
import type { Pod } from '../../api/pod.ts';
import { ResourceNames } from '../../api/resource-names.ts';
import { systemClock } from '../../base/system-clock.ts';
import {
  ForbiddenError,
  NotFoundError,
  UnclearOutcomeError,
  UnreachableError,
  WithdrawnError,
} from '../../client/api-errors.ts';
import { HttpTransport } from '../../client/http/http-transport.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { ApiPodEvictor } from './api-pod-evictor.ts';

interface Stored {
  readonly metadata: {
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
  };
  readonly status: { readonly phase: string; readonly conditions?: readonly Readonly<Record<string, string>>[] };
}

const podsPath = '/api/v1/namespaces/default/pods';
const projector = new PodProjector(new ResourceNames());
const never = new AbortController().signal;

let plane: TestPlane;
let proxy: ApiProxy;
let transport: HttpTransport;
let evictor: ApiPodEvictor;
/** Requests of the evictor, as `METHOD path`, in order. */
let sent: string[];
let pods = 0;

beforeAll(async () => {
  plane = await openEmbeddedPlane();
  proxy = await ApiProxy.open(plane.transport);
});

afterAll(async () => {
  await proxy.cut();
  await plane.stop();
});

beforeEach(() => {
  sent = [];
  proxy.fault = ({ method, path }) => void sent.push(`${method} ${path}`);
  transport = new HttpTransport({ endpoint: proxy.endpoint });
  const client = new KubeClient({ transport, clock: systemClock });
  evictor = new ApiPodEvictor({ client, clock: systemClock, random: Math.random });
});

afterEach(() => transport.close());

/** Creates a running pod with a grace period of 7 seconds. */
async function running(name = `victim-${pods++}`): Promise<Pod> {
  const spec = {
    schedulerName: 'tutti',
    nodeName: 'a',
    terminationGracePeriodSeconds: 7,
    containers: [{ name: 'main', image: 'busybox' }],
  };
  await plane.client.create(podsPath, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
  const ready = { type: 'Ready', status: 'True' };
  await plane.client.patch(`${podsPath}/${name}/status`, 'merge', {
    status: { phase: 'Running', conditions: [ready] },
  });
  return projector.project(await plane.client.get(`${podsPath}/${name}`));
}

/** Marks and evicts the pod, as a preemption does. */
async function evict(pod: Pod, signal = never): Promise<void> {
  const terms = { mayBeSent: () => undefined, signal };
  const message = 'tutti: preempting to accommodate a higher priority pod (default/x)';
  if (await evictor.mark(pod, message, terms)) await evictor.evict(pod, terms);
}

function stored({ name }: Pod): Promise<Stored> {
  return plane.client.get<Stored>(`${podsPath}/${name}`);
}

/** Deletes the pod without a grace period. */
function remove({ name }: Pod): Promise<unknown> {
  return plane.client.delete(`${podsPath}/${name}`, { gracePeriodSeconds: 0 });
}

describe('an evicted pod', () => {
  it('gets a DisruptionTarget condition that names the beneficiary and keeps its other conditions', async () => {
    const pod = await running();
    await evict(pod);
    const { status } = await stored(pod);
    const conditions = Object.fromEntries(status.conditions!.map((condition) => [condition.type, condition]));
    expect(conditions.DisruptionTarget).toMatchObject({
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: 'tutti: preempting to accommodate a higher priority pod (default/x)',
      lastTransitionTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
    });
    expect(conditions.Ready).toMatchObject({ status: 'True' });
    expect(status.phase).toBe('Running');
  });

  it('gets the condition first, then is deleted with its own grace period', async () => {
    const pod = await running();
    await evict(pod);
    expect(sent).toEqual([`PATCH ${podsPath}/${pod.name}/status`, `DELETE ${podsPath}/${pod.name}`]);
    const { metadata } = await stored(pod);
    expect(metadata.deletionTimestamp).toBeDefined();
    expect(metadata.deletionGracePeriodSeconds).toBe(7);
  });

  it('can be evicted again while it terminates, without effect', async () => {
    const pod = await running();
    await evict(pod);
    const { metadata, status } = await stored(pod);
    await evict(pod);
    const again = await stored(pod);
    expect(again.metadata.deletionTimestamp).toBe(metadata.deletionTimestamp);
    expect(again.status.conditions).toHaveLength(status.conditions!.length);
  });

  it('counts as evicted if it is already gone', async () => {
    const pod = await running();
    await remove(pod);
    await evict(pod);
    expect(sent).toHaveLength(1);
  });

  it('counts as evicted if it no longer exists after it got the condition', async () => {
    const pod = await running();
    proxy.fault = async ({ method }) => {
      if (method === 'DELETE') await remove(pod);
      return undefined;
    };
    await evict(pod);
    await expect(stored(pod)).rejects.toThrow(NotFoundError);
  });
});

describe('another pod with the same name', () => {
  it('gets no condition and is not deleted', async () => {
    const pod = await running();
    await remove(pod);
    const replacement = await running(pod.name);
    expect(replacement.uid).not.toBe(pod.uid);
    await evict(pod);
    const { metadata, status } = await stored(replacement);
    expect([metadata.uid, metadata.deletionTimestamp]).toEqual([replacement.uid, undefined]);
    expect(status.conditions!.map(({ type }) => type)).toEqual(['Ready']);
  });

  it('is not deleted if it is created after the condition was written', async () => {
    const pod = await running();
    proxy.fault = async ({ method }) => {
      if (method === 'DELETE') await remove(pod).then(() => running(pod.name));
      return undefined;
    };
    await evict(pod);
    const { metadata } = await stored(pod);
    expect(metadata.uid).not.toBe(pod.uid);
    expect(metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('an eviction that fails', () => {
  it.each(['PATCH', 'DELETE'] as const)('rejects when the server rejects the %s', async (rejected) => {
    const pod = await running();
    proxy.fault = ({ method }) =>
      method === rejected ? statusAnswer(403, 'Forbidden', 'pods is forbidden') : undefined;
    await expect(evict(pod)).rejects.toThrow(ForbiddenError);
    expect((await stored(pod)).metadata.deletionTimestamp).toBeUndefined();
  });

  it.each(['PATCH', 'DELETE'] as const)('is retried when the response to the %s is lost', async (method) => {
    const pod = await running();
    let isLost = false;
    proxy.fault = async (request, forward) => {
      sent.push(request.method);
      if (request.method !== method || isLost) return undefined;
      isLost = true;
      await forward();
      throw new Error('the connection is lost');
    };
    await evict(pod);
    expect(sent.filter((what) => what === method)).toHaveLength(2);
    expect((await stored(pod)).metadata.deletionTimestamp).toBeDefined();
  });

  it('counts as done if the server carried out a delete before it began to reject them', async () => {
    const pod = await running();
    let isFirst = true;
    proxy.fault = async ({ method }, forward) => {
      if (method !== 'DELETE') return undefined;
      if (!isFirst) return statusAnswer(403, 'Forbidden', 'pods is forbidden');
      isFirst = false;
      await forward();
      throw new Error('the connection is lost');
    };
    await evict(pod);
  });

  it('rejects without an outcome if an answer was lost and the pod cannot be read back', async () => {
    const pod = await running();
    let isFirst = true;
    proxy.fault = ({ method }) => {
      if (method === 'PATCH') return undefined;
      const status = isFirst ? 500 : 403;
      isFirst = false;
      return statusAnswer(status, 'Forbidden', `${method} is forbidden`);
    };
    await expect(evict(pod)).rejects.toThrow(UnclearOutcomeError);
  });

  it('is read back only if the pod may have been deleted', async () => {
    const pod = await running();
    proxy.fault = ({ method }) => {
      sent.push(method);
      return method === 'DELETE' ? statusAnswer(403, 'Forbidden', 'pods is forbidden') : undefined;
    };
    await expect(evictor.evict(pod, terms)).rejects.toThrow(ForbiddenError);
    expect(sent).toEqual(['DELETE']);
    await expect(evictor.evict(pod, { ...terms, mayBeDone: true })).rejects.toThrow(ForbiddenError);
    expect(sent).toEqual(['DELETE', 'DELETE', 'GET']);
  });

  it('counts as done if the pod goes while it is read back', async () => {
    const pod = await running();
    let isFirst = true;
    proxy.fault = async ({ method }) => {
      if (method === 'DELETE') return statusAnswer(403, 'Forbidden', 'pods is forbidden');
      if (isFirst) {
        isFirst = false;
        return statusAnswer(500, 'InternalError', 'not now');
      }
      await remove(pod);
      return undefined;
    };
    await evictor.evict(pod, { ...terms, mayBeDone: true });
  });

  it('is withdrawn although an answer was lost', async () => {
    const pod = await running();
    let isWanted = true;
    proxy.fault = async (_request, forward) => {
      await forward();
      isWanted = false;
      return statusAnswer(500, 'InternalError', 'lost');
    };
    const mayBeSent = (): void => {
      if (!isWanted) throw new WithdrawnError('the member is being deleted');
    };
    await expect(evictor.release(pod, { mayBeSent, signal: never })).rejects.toThrow(WithdrawnError);
  });

  it('rejects with the cause if no request can have had an effect', async () => {
    const pod = await running();
    await proxy.cut();
    const aborted = AbortSignal.timeout(10_000);
    await expect(evictor.evict(pod, { mayBeSent: () => undefined, signal: aborted })).rejects.toThrow(UnreachableError);
    await proxy.restore();
  });

  it("rejects with the signal's reason when it is aborted", async () => {
    const pod = await running();
    const stop = new AbortController();
    proxy.fault = () => {
      stop.abort(new Error('stopping'));
      return statusAnswer(503, 'ServiceUnavailable', 'not now');
    };
    await expect(evict(pod, stop.signal)).rejects.toThrow('stopping');
    expect((await stored(pod)).metadata.deletionTimestamp).toBeUndefined();
  });
});

const terms = { mayBeSent: () => undefined, signal: never };

describe('a marked pod', () => {
  it('shows the scheduler and the time in its projection, until the mark is taken back', async () => {
    const pod = await running();
    expect(await evictor.mark(pod, 'tutti: preempting to accommodate a higher priority pod (default/x)', terms)).toBe(
      true,
    );
    const marked = projector.project(await stored(pod));
    expect(marked.preemptionMark?.schedulerName).toBe('tutti');
    expect(Math.abs(marked.preemptionMark!.since - Date.now())).toBeLessThan(10_000);
    await evictor.unmark(pod, 'tutti: the preemption was given up', terms);
    const unmarked = await stored(pod);
    expect(projector.project(unmarked).preemptionMark).toBeUndefined();
    expect(unmarked.status.conditions!.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({
      status: 'False',
      message: 'tutti: the preemption was given up',
    });
    expect(unmarked.metadata.deletionTimestamp).toBeUndefined();
  });

  it('needs no mark to be taken back if it is gone', async () => {
    const pod = await running();
    await remove(pod);
    await evictor.unmark(pod, 'tutti: the preemption was given up', terms);
  });

  it.each(['mark', 'evict', 'release'] as const)(
    'is left alone if the %s is withdrawn right before it is sent',
    async (call) => {
      const pod = await running();
      const mayBeSent = (): never => {
        throw new WithdrawnError('given up');
      };
      const withdrawn = { mayBeSent, signal: never };
      const outcome = call === 'mark' ? evictor.mark(pod, 'tutti: …', withdrawn) : evictor[call](pod, withdrawn);
      await expect(outcome).rejects.toThrow(WithdrawnError);
      expect(sent).toEqual([]);
    },
  );
});

describe('a released pod', () => {
  it('is evicted by the server: it gets the condition and is deleted with its own grace period', async () => {
    const pod = await running();
    expect(await evictor.release(pod, terms)).toBe('going');
    expect(sent).toEqual([`POST ${podsPath}/${pod.name}/eviction`]);
    const { metadata, status } = await stored(pod);
    expect(metadata.deletionTimestamp).toBeDefined();
    expect(metadata.deletionGracePeriodSeconds).toBe(7);
    expect(status.conditions!.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({ status: 'True' });
  });

  it('counts as going if it is gone or was recreated', async () => {
    const pod = await running();
    await remove(pod);
    expect(await evictor.release(pod, terms)).toBe('going');
    const replacement = await running(pod.name);
    expect(await evictor.release(pod, terms)).toBe('going');
    expect((await stored(replacement)).metadata).toMatchObject({ uid: replacement.uid });
    expect((await stored(replacement)).metadata.deletionTimestamp).toBeUndefined();
  });

  it('stays if a PodDisruptionBudget protects it, without a retry', async () => {
    const pod = await running();
    const message = "Cannot evict pod as it would violate the pod's disruption budget.";
    proxy.fault = ({ method, path }) => {
      sent.push(`${method} ${path}`);
      return budgetAnswer(message);
    };
    expect(await evictor.release(pod, terms)).toBe('protected');
    expect(sent).toHaveLength(1);
    expect((await stored(pod)).metadata.deletionTimestamp).toBeUndefined();
  });

  it('is evicted by a retry if the server was only overloaded', async () => {
    const pod = await running();
    let isFirst = true;
    proxy.fault = () => {
      if (!isFirst) return undefined;
      isFirst = false;
      return statusAnswer(429, 'TooManyRequests', 'come again');
    };
    expect(await evictor.release(pod, terms)).toBe('going');
    expect((await stored(pod)).metadata.deletionTimestamp).toBeDefined();
  });

  it('stays if the eviction is forbidden', async () => {
    const pod = await running();
    proxy.fault = ({ method }) =>
      method === 'POST' ? statusAnswer(403, 'Forbidden', 'pods/eviction is forbidden') : undefined;
    await expect(evictor.release(pod, terms)).rejects.toThrow(ForbiddenError);
  });
});

/** The API server's response to an Eviction that a budget does not allow. */
function budgetAnswer(message: string): ReturnType<typeof statusAnswer> {
  const answer = statusAnswer(429, 'TooManyRequests', message);
  const details = { causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget needs 2 healthy pods' }] };
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'TooManyRequests', code: 429 };
  const text = JSON.stringify({ ...status, message, details });
  return { ...answer, body: piece(new TextEncoder().encode(text)) };
}

async function* piece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
