import { describe, expect, test } from 'vitest';
import { small, startPlane } from './testing/simulated-plane.ts';
import type { SeenPod, SimulatedPlane } from './testing/simulated-plane.ts';

describe('a simulated pod', () => {
  test('changes from ContainerCreating to Running to Succeeded', async () => {
    await using plane = await startPlane();
    await plane.createPod('p', {
      node: 'a',
      annotations: { startLatency: '1s', runDuration: '2s' },
      spec: { initContainers: [{ name: 'init', image: 'i' }] },
    });
    await plane.pass(500);
    const creating = await plane.pod('p');
    expect(creating.status).toMatchObject({
      phase: 'Pending',
      hostIP: '10.0.0.1',
      containerStatuses: [{ ready: false, state: { waiting: { reason: 'ContainerCreating' } } }],
    });
    expect(creating.status.podIP).toBeUndefined();
    await plane.pass(1_000);
    expect(await plane.pod('p')).toMatchObject({
      status: {
        phase: 'Running',
        podIP: '10.128.0.1',
        startTime: creating.status.startTime,
        containerStatuses: [{ ready: true, restartCount: 0, state: { running: {} } }],
        initContainerStatuses: [{ name: 'init', state: { terminated: { exitCode: 0 } } }],
      },
    });
    expect(conditions(await plane.pod('p'))).toMatchObject({
      PodScheduled: 'True',
      Initialized: 'True',
      Ready: 'True',
    });
    await plane.pass(1_000);
    expect(await plane.phase('p')).toBe('Running');
    await plane.pass(1_000);
    const done = await plane.pod('p');
    expect(done.status).toMatchObject({
      phase: 'Succeeded',
      containerStatuses: [{ ready: false, state: { terminated: { exitCode: 0, reason: 'Completed' } } }],
    });
    expect(conditions(done)).toMatchObject({ PodScheduled: 'True', Ready: 'False' });
    expect(plane.problems).toEqual([]);
  });

  test('runs until it is deleted if it has no run duration', async () => {
    await using plane = await startPlane();
    await plane.createPod('p', { node: 'a' });
    await plane.pass(24 * 3_600_000);
    expect(await plane.phase('p')).toBe('Running');
  });

  test('fails with the exit code in its annotation', async () => {
    await using plane = await startPlane();
    await plane.createPod('p', { node: 'a', annotations: { runDuration: '1s', exitCode: '137' } });
    await plane.pass(2_000);
    const { status } = await plane.pod('p');
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
      await using plane = await startPlane();
      await plane.createPod('p', { node: 'a', annotations: { runDuration: '10s', exitCode }, spec: { restartPolicy } });
      await plane.pass(35_000);
      const { status } = await plane.pod('p');
      expect(status.phase).toBe(phase);
      expect(status.containerStatuses?.[0]?.restartCount).toBe(count);
    },
  );

  test('fails at its deadline, which counts from its start', async () => {
    await using plane = await startPlane();
    const spec = { activeDeadlineSeconds: 10, restartPolicy: 'Always' };
    await plane.createPod('p', { node: 'a', annotations: { runDuration: '3s' }, spec });
    await plane.createPod('stuck', { node: 'a', annotations: { startLatency: '1h' }, spec });
    await plane.createPod('longer', { node: 'a', spec: { activeDeadlineSeconds: 90 * 86_400 } });
    await plane.pass(9_900);
    expect(await Promise.all(['p', 'stuck', 'longer'].map((name) => plane.phase(name)))).toEqual([
      'Running',
      'Pending',
      'Running',
    ]);
    expect(plane.nodes.areMoving).toBe(true);
    await plane.pass(200);
    for (const name of ['p', 'stuck']) {
      const { status } = await plane.pod(name);
      expect(status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
      expect(status.message).toBe('Pod was active on the node longer than the specified deadline');
      expect(status.containerStatuses?.[0]?.state.terminated?.exitCode).toBe(143);
    }
    await plane.client.patch('/api/v1/namespaces/default/pods/longer', 'merge', {
      spec: { activeDeadlineSeconds: 20 },
    });
    await plane.pass(9_000);
    expect(await plane.phase('longer')).toBe('Running');
    await plane.pass(1_000);
    expect((await plane.pod('longer')).status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
    expect(plane.nodes.areMoving).toBe(false);
  });

  test('that succeeds before its deadline stays so', async () => {
    await using plane = await startPlane();
    await plane.createPod('p', { node: 'a', annotations: { runDuration: '3s' }, spec: { activeDeadlineSeconds: 10 } });
    await plane.pass(5_000);
    expect(plane.nodes.areMoving).toBe(false);
    await plane.pass(10_000);
    expect(await plane.phase('p')).toBe('Succeeded');
  });

  test('fails at once if an annotation is invalid, and names the annotation', async () => {
    await using plane = await startPlane();
    await plane.createPod('p', { node: 'a', annotations: { runDuration: 'a while' } });
    await plane.pass(100);
    const { status } = await plane.pod('p');
    expect(status).toMatchObject({ phase: 'Failed', reason: 'InvalidSimulation' });
    expect(status.message).toBe(
      'annotation sim.tutti.dev/run-duration: "a while" is not valid; it must be a duration such as "2s" or "1m30s", or "never"',
    );
  });

  test('starts when it is bound, even if it was created long before', async () => {
    await using plane = await startPlane();
    await plane.createPod('p');
    await plane.createPod('elsewhere');
    await plane.pass(10_000);
    expect(await plane.phase('p')).toBe('Pending');
    await plane.bind('p', 'a');
    await plane.pass(1_000);
    expect(await plane.phase('p')).toBe('Running');
    expect(await plane.phase('elsewhere')).toBe('Pending');
  });
});

describe('deletion', () => {
  test('waits until the pod has terminated, and then removes it', async () => {
    await using plane = await startPlane();
    await plane.createPod('p', { node: 'a', annotations: { termination: '3s' } });
    await plane.pass(1_000);
    const { uid } = (await plane.pod('p')).metadata;
    const deletions: unknown[] = [];
    plane.fault = ({ method, body }) => {
      if (method === 'DELETE') deletions.push(JSON.parse(body as string));
      return undefined;
    };
    await plane.deletePod('p');
    await plane.pass(2_000);
    expect((await plane.pod('p')).metadata.deletionTimestamp).toBeDefined();
    await plane.pass(1_000);
    expect(await plane.podNames()).toEqual([]);
    expect(deletions).toEqual([{ gracePeriodSeconds: 0, preconditions: { uid } }]);
  });

  test('takes no longer than the grace period', async () => {
    await using plane = await startPlane();
    await plane.createPod('p', { node: 'a', annotations: { termination: '1h' } });
    await plane.pass(1_000);
    await plane.deletePod('p', { gracePeriodSeconds: 5 });
    await plane.pass(4_000);
    expect(await plane.podNames()).toEqual(['p']);
    await plane.pass(1_000);
    expect(await plane.podNames()).toEqual([]);
  });

  describe('of a pod with a finalizer', () => {
    const addFinalizer = (plane: SimulatedPlane): Promise<unknown> =>
      plane.client.patch('/api/v1/namespaces/default/pods/p', 'merge', {
        metadata: { finalizers: ['example.com/hold'] },
      });

    test('reports that the pod failed with exit code 143', async () => {
      await using plane = await startPlane();
      await plane.createPod('p', { node: 'a' });
      await plane.pass(1_000);
      await addFinalizer(plane);
      await plane.deletePod('p');
      await plane.pass(5_000);
      expect(await plane.pod('p')).toMatchObject({
        metadata: { deletionTimestamp: expect.any(String) },
        status: { phase: 'Failed', containerStatuses: [{ ready: false, state: { terminated: { exitCode: 143 } } }] },
      });
      await plane.restart([small]);
      await plane.client.patch('/api/v1/namespaces/default/pods/p', 'merge', { metadata: { finalizers: null } });
      await plane.pass(1_000);
      expect(await plane.podNames()).toEqual([]);
      expect(plane.problems).toEqual([]);
    });

    test('reports the result of a pod that ended before its deletion, even if the server missed it', async () => {
      await using plane = await startPlane();
      await plane.createPod('p', { node: 'a', annotations: { runDuration: '2s' } });
      await addFinalizer(plane);
      let isDown = true;
      plane.fault = ({ body }) =>
        isDown && String(body).includes('"phase":"Succeeded"') ? Promise.reject(new Error('reset')) : undefined;
      await plane.pass(2_500);
      await plane.deletePod('p');
      await plane.pass(1_000);
      expect(await plane.phase('p')).toBe('Running');
      isDown = false;
      await plane.pass(30_000);
      expect(await plane.phase('p')).toBe('Succeeded');
    });

    test('completes a termination that another process started', async () => {
      await using plane = await startPlane();
      await plane.createPod('p', { node: 'a', annotations: { termination: '20s' } });
      await plane.pass(1_000);
      await addFinalizer(plane);
      await plane.deletePod('p');
      await plane.pass(1_000);
      await plane.restart([small]);
      await plane.pass(1_000);
      expect(await plane.phase('p')).toBe('Failed');
    });
  });

  test('does not touch a new pod of the same name', async () => {
    await using plane = await startPlane();
    await plane.createPod('p', { node: 'a', annotations: { termination: '10s', runDuration: '2s' } });
    await plane.pass(1_000);
    await plane.deletePod('p');
    await plane.deletePod('p', { gracePeriodSeconds: 0 });
    await plane.createPod('p', { node: 'a' });
    await plane.pass(60_000);
    expect(await plane.phase('p')).toBe('Running');
    expect(plane.problems).toEqual([]);
  });
});

function conditions(pod: SeenPod): Record<string, string> {
  return Object.fromEntries((pod.status.conditions ?? []).map(({ type, status: value }) => [type, value]));
}
