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

/** One node of use, and whoever does not want to be beside `app: a`, which is parked once that is there. */
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

it('a pod whose label changes while it is being bound is in the way no longer', async () => {
  const core = await parkedBeside(planned);
  core.change('p', { labels: { app: 'b' } });
  expect(core.states()['pod/waits']).toBe('backoff');
});

it('a pod whose label has changed when it is shown to be bound is in the way no longer', async () => {
  const core = await parkedBeside(planned);
  await core.accept('p');
  core.change('p', { labels: { app: 'b' }, nodeName: 'a', phase: 'Running' });
  expect(core.states()['pod/waits']).toBe('backoff');
});

it('a pod that could not be bound goes as what it had become, not as it was planned', async () => {
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

it('a pod that has ended was in the way as it was while it ran', async () => {
  const core = await parkedBeside(bound);
  core.change('p', { labels: {}, phase: 'Succeeded' });
  expect(core.states()['pod/waits']).toBe('backoff');
});

it('a pod that turns out to be elsewhere was in the way as it was planned', async () => {
  const core = await parkedBeside(planned);
  core.change('p', { labels: {}, nodeName: 'out-of-use', phase: 'Running' });
  expect(core.states()['pod/waits']).toBe('backoff');
});

it('room is kept for a nominated pod as it is: one whose label changes is in the way no longer', async () => {
  const core = await parkedBeside((world) => {
    world.pod({ name: 'p', labels: { app: 'a' }, priority: 1, schedulerName: 'other', nominatedNodeName: 'a' });
  });
  core.change('p', { labels: {} });
  expect(core.states()['pod/waits']).toBe('backoff');
});
