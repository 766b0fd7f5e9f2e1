import { describe, expect, test } from 'vitest';
import { small, startPlane } from './testing/simulated-plane.ts';
import type { SeenPod, SimulatedPlane } from './testing/simulated-plane.ts';

describe('the life of a pod', () => {
  test('goes from ContainerCreating over Running to Succeeded', async () => {
    await using here = await startPlane();
    await here.createPod('p', {
      node: 'a',
      annotations: { startLatency: '1s', runDuration: '2s' },
      spec: { initContainers: [{ name: 'init', image: 'i' }] },
    });
    await here.pass(500);
    const creating = await here.pod('p');
    expect(creating.status).toMatchObject({
      phase: 'Pending',
      hostIP: '10.0.0.1',
      containerStatuses: [{ ready: false, state: { waiting: { reason: 'ContainerCreating' } } }],
    });
    expect(creating.status.podIP).toBeUndefined();
    await here.pass(1_000);
    expect(await here.pod('p')).toMatchObject({
      status: {
        phase: 'Running',
        podIP: '10.128.0.1',
        startTime: creating.status.startTime,
        containerStatuses: [{ ready: true, restartCount: 0, state: { running: {} } }],
        initContainerStatuses: [{ name: 'init', state: { terminated: { exitCode: 0 } } }],
      },
    });
    expect(conditions(await here.pod('p'))).toMatchObject({ PodScheduled: 'True', Initialized: 'True', Ready: 'True' });
    await here.pass(1_000);
    expect(await here.phase('p')).toBe('Running');
    await here.pass(1_000);
    const done = await here.pod('p');
    expect(done.status).toMatchObject({
      phase: 'Succeeded',
      containerStatuses: [{ ready: false, state: { terminated: { exitCode: 0, reason: 'Completed' } } }],
    });
    expect(conditions(done)).toMatchObject({ PodScheduled: 'True', Ready: 'False' });
    expect(here.problems).toEqual([]);
  });

  test('goes on until it is deleted when nothing says how long it runs', async () => {
    await using here = await startPlane();
    await here.createPod('p', { node: 'a' });
    await here.pass(24 * 3_600_000);
    expect(await here.phase('p')).toBe('Running');
  });

  test('ends as Failed with the exit code that was asked for', async () => {
    await using here = await startPlane();
    await here.createPod('p', { node: 'a', annotations: { runDuration: '1s', exitCode: '137' } });
    await here.pass(2_000);
    const { status } = await here.pod('p');
    expect(status.phase).toBe('Failed');
    expect(status.containerStatuses?.[0]?.state.terminated?.exitCode).toBe(137);
  });

  test.each([
    ['Always', '0', 'Running', 2],
    ['OnFailure', '1', 'Running', 2],
    ['OnFailure', '0', 'Succeeded', 0],
  ])(
    'with restartPolicy %s and exit code %s is %s after %d restarts',
    async (restartPolicy, exitCode, phase, count) => {
      await using here = await startPlane();
      await here.createPod('p', { node: 'a', annotations: { runDuration: '10s', exitCode }, spec: { restartPolicy } });
      await here.pass(35_000);
      const { status } = await here.pod('p');
      expect(status.phase).toBe(phase);
      expect(status.containerStatuses?.[0]?.restartCount).toBe(count);
    },
  );

  test('fails at once when an annotation cannot be read, and says which', async () => {
    await using here = await startPlane();
    await here.createPod('p', { node: 'a', annotations: { runDuration: 'a while' } });
    await here.pass(100);
    const { status } = await here.pod('p');
    expect(status).toMatchObject({ phase: 'Failed', reason: 'InvalidSimulation' });
    expect(status.message).toBe(
      'annotation sim.tutti.dev/run-duration: "a while" is not valid; it must be a duration such as "2s" or "1m30s", or "never"',
    );
  });

  test('begins when the pod is bound, whoever was there before', async () => {
    await using here = await startPlane();
    await here.createPod('p');
    await here.createPod('elsewhere');
    await here.pass(10_000);
    expect(await here.phase('p')).toBe('Pending');
    await here.bind('p', 'a');
    await here.pass(1_000);
    expect(await here.phase('p')).toBe('Running');
    expect(await here.phase('elsewhere')).toBe('Pending');
  });
});

describe('deletion', () => {
  test('gives the pod its time to end, and then removes it', async () => {
    await using here = await startPlane();
    await here.createPod('p', { node: 'a', annotations: { termination: '3s' } });
    await here.pass(1_000);
    const { uid } = (await here.pod('p')).metadata;
    const deletions: unknown[] = [];
    here.fault = ({ method, body }) => {
      if (method === 'DELETE') deletions.push(JSON.parse(body as string));
      return undefined;
    };
    await here.deletePod('p');
    await here.pass(2_000);
    expect((await here.pod('p')).metadata.deletionTimestamp).toBeDefined();
    await here.pass(1_000);
    expect(await here.podNames()).toEqual([]);
    expect(deletions).toEqual([{ gracePeriodSeconds: 0, preconditions: { uid } }]);
  });

  test('takes no longer than the grace period', async () => {
    await using here = await startPlane();
    await here.createPod('p', { node: 'a', annotations: { termination: '1h' } });
    await here.pass(1_000);
    await here.deletePod('p', { gracePeriodSeconds: 5 });
    await here.pass(4_000);
    expect(await here.podNames()).toEqual(['p']);
    await here.pass(1_000);
    expect(await here.podNames()).toEqual([]);
  });

  describe('of a pod that somebody holds', () => {
    const hold = (here: SimulatedPlane): Promise<unknown> =>
      here.client.patch('/api/v1/namespaces/default/pods/p', 'merge', {
        metadata: { finalizers: ['example.com/hold'] },
      });

    test('shows that it has ended, and as what', async () => {
      await using here = await startPlane();
      await here.createPod('p', { node: 'a' });
      await here.pass(1_000);
      await hold(here);
      await here.deletePod('p');
      await here.pass(5_000);
      expect(await here.pod('p')).toMatchObject({
        metadata: { deletionTimestamp: expect.any(String) },
        status: { phase: 'Failed', containerStatuses: [{ ready: false, state: { terminated: { exitCode: 143 } } }] },
      });
      await here.restart([small]);
      await here.client.patch('/api/v1/namespaces/default/pods/p', 'merge', { metadata: { finalizers: null } });
      await here.pass(1_000);
      expect(await here.podNames()).toEqual([]);
      expect(here.problems).toEqual([]);
    });

    test('leaves it as it ended by itself, though the server did not know yet', async () => {
      await using here = await startPlane();
      await here.createPod('p', { node: 'a', annotations: { runDuration: '2s' } });
      await hold(here);
      let isDown = true;
      here.fault = ({ body }) =>
        isDown && String(body).includes('"phase":"Succeeded"') ? Promise.reject(new Error('reset')) : undefined;
      await here.pass(2_500);
      await here.deletePod('p');
      await here.pass(1_000);
      expect(await here.phase('p')).toBe('Running');
      isDown = false;
      await here.pass(30_000);
      expect(await here.phase('p')).toBe('Succeeded');
    });

    test('ends what another process had begun to end', async () => {
      await using here = await startPlane();
      await here.createPod('p', { node: 'a', annotations: { termination: '20s' } });
      await here.pass(1_000);
      await hold(here);
      await here.deletePod('p');
      await here.pass(1_000);
      await here.restart([small]);
      await here.pass(1_000);
      expect(await here.phase('p')).toBe('Failed');
    });
  });

  test('does not touch a new pod of the same name', async () => {
    await using here = await startPlane();
    await here.createPod('p', { node: 'a', annotations: { termination: '10s', runDuration: '2s' } });
    await here.pass(1_000);
    await here.deletePod('p');
    await here.deletePod('p', { gracePeriodSeconds: 0 });
    await here.createPod('p', { node: 'a' });
    await here.pass(60_000);
    expect(await here.phase('p')).toBe('Running');
    expect(here.problems).toEqual([]);
  });
});

function conditions(pod: SeenPod): Record<string, string> {
  return Object.fromEntries((pod.status.conditions ?? []).map(({ type, status: value }) => [type, value]));
}
