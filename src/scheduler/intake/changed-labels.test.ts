import { expect, it } from 'vitest';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

const notBeside = (app: string): object => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app } } },
      ],
    },
  },
});

/** One usable node, and a pod with anti-affinity to `app: a`, which is unschedulable after `first`. */
async function parkedBeside(first: (core: Scheduling) => void): Promise<Scheduling> {
  const core = new Scheduling({ plugins: defaultPlugins });
  core.node({ name: 'a' });
  core.node({ name: 'out-of-use', unschedulable: true });
  first(core);
  await core.attempt();
  core.pod({ name: 'waits', spec: notBeside('a') });
  await core.attempt();
  expect(core.states()['pod/waits']).toBe('unschedulable');
  return core;
}

const planned = (core: Scheduling): void => void core.pod({ name: 'p', labels: { app: 'a' } });
const bound = (core: Scheduling): void => void core.pod({ name: 'p', labels: { app: 'a' }, nodeName: 'a' });

it('a pod whose label changes while it is assumed wakes the pods that its old label rejected', async () => {
  const core = await parkedBeside(planned);
  core.change('p', { labels: { app: 'b' } });
  expect(core.states()['pod/waits']).toBe('backoff');
});

it('a pod that is confirmed with another label wakes the pods that its old label rejected', async () => {
  const core = await parkedBeside(planned);
  await core.accept('p');
  core.change('p', { labels: { app: 'b' }, nodeName: 'a', phase: 'Running' });
  expect(core.states()['pod/waits']).toBe('backoff');
});

it('a pod whose binding failed wakes the pods that its current label rejected, not only its planned one', async () => {
  const core = new Scheduling({ plugins: defaultPlugins });
  core.node({ name: 'a' });
  core.pod({ name: 'p', labels: { app: 'b' } });
  await core.attempt();
  core.change('p', { labels: { app: 'a' } });
  core.pod({ name: 'waits', spec: notBeside('a') });
  await core.attempt();
  expect(core.states()['pod/waits']).toBe('unschedulable');
  await core.reject('p', 'the node is full');
  expect(core.states()['pod/waits']).toBe('backoff');
});

it('a pod that ends without labels wakes the pods that its old label rejected', async () => {
  const core = await parkedBeside(bound);
  core.change('p', { labels: {}, phase: 'Succeeded' });
  expect(core.states()['pod/waits']).toBe('backoff');
});

it('a pod that is bound to another node wakes the pods that its planned label rejected', async () => {
  const core = await parkedBeside(planned);
  core.change('p', { labels: {}, nodeName: 'out-of-use', phase: 'Running' });
  expect(core.states()['pod/waits']).toBe('backoff');
});

it('a nominated pod whose label changes wakes the pods that its old label rejected', async () => {
  const core = await parkedBeside((world) => {
    world.pod({ name: 'p', labels: { app: 'a' }, priority: 1, schedulerName: 'other', nominatedNodeName: 'a' });
  });
  core.change('p', { labels: {} });
  expect(core.states()['pod/waits']).toBe('backoff');
});
