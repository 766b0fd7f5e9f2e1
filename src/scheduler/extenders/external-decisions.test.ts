import { describe, expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

const notYet = new Status('Pending', 'the licence has been asked for', 'Licence');

/** An external service that grants licences to namespaces. */
class LicenceService {
  readonly granted = new Set<string>();

  /** Returns the rejection of a pod whose namespace has no licence. */
  readonly answer = ({ namespace }: Pod): Status | undefined => (this.granted.has(namespace) ? undefined : notYet);

  /** Returns a plugin that waits for the licence at `point`, and learns of it through a node label. */
  plugin(point: 'preFilter' | 'filter' | 'reserve' | 'permit'): Plugin {
    return {
      name: 'Licence',
      [point]: (_state: unknown, pod: Pod) => this.answer(pod),
      eventsToRegister: () => [
        { resource: 'Node', actions: ['Update'], hint: (pod) => this.answer(pod) === undefined },
      ],
    };
  }
}

function waiting(plugin: Plugin): Scheduling {
  const core = new Scheduling({ plugins: defaultPlugins, extra: [plugin] });
  core.node({ name: 'a', cpu: 4 });
  core.group({ name: 'red', minMember: 2 });
  core.members(2, { group: 'red', cpu: 1 });
  return core;
}

describe('a plugin that waits for an external decision', () => {
  it.each(['preFilter', 'filter', 'reserve', 'permit'] as const)(
    'at %s requeues the gang without back-off once an event reports the decision',
    async (point) => {
      const service = new LicenceService();
      const core = waiting(service.plugin(point));
      expect(await core.attempt()).toBe('rejected');
      expect(core.harness.verdicts[0]).toContain('the licence has been asked for');
      core.node({ name: 'a', cpu: 4, labels: { other: 'change' } });
      expect(core.states()).toEqual({ 'gang/default/red': 'unschedulable' });
      service.granted.add('default');
      core.node({ name: 'a', cpu: 4, labels: { licence: 'given' } });
      expect(core.states()).toEqual({ 'gang/default/red': 'active' });
      expect(await core.attempt()).toBe('planned');
    },
  );

  it('does not run early because of an event that helps another plugin', async () => {
    const service = new LicenceService();
    const core = waiting(service.plugin('filter'));
    core.node({ name: 'b', cpu: 4, taints: ['dedicated=x:NoSchedule'] });
    expect(await core.attempt()).toBe('rejected');
    core.node({ name: 'b', cpu: 4 });
    expect(core.states()).toEqual({ 'gang/default/red': 'backoff' });
  });
});

describe('a plugin that learns of the decision by itself', () => {
  it('activates the gang, and no other entity', async () => {
    const service = new LicenceService();
    let activate!: (pods: Iterable<Pod>) => void;
    const core = new Scheduling({
      plugins: [
        ...defaultPlugins,
        {
          name: 'Licence',
          factory: (_args, handle) => {
            activate = (pods) => handle.activate(pods);
            // No pod waits yet, so this does nothing.
            activate([]);
            return { name: 'Licence', filter: (_state, pod) => service.answer(pod) };
          },
        },
      ],
    });
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    core.pod({ name: 'lone', cpu: 1 });
    while ((await core.attempt()) !== undefined);
    expect(core.states()).toEqual({ 'gang/default/red': 'unschedulable', 'pod/lone': 'unschedulable' });
    service.granted.add('default');
    activate([core.harness.cluster.gang('default/red')!.members.values().next().value!]);
    expect(core.states()).toEqual({ 'gang/default/red': 'active', 'pod/lone': 'unschedulable' });
    expect(await core.attempt()).toBe('planned');
  });
});

describe('a PreEnqueue plugin that depends on other objects than the pod', () => {
  it('runs again after the events that it registered', async () => {
    const shut = new Status('UnschedulableAndUnresolvable', 'no node has a licence');
    const seen: string[] = [];
    const core = new Scheduling({
      plugins: [
        ...defaultPlugins,
        {
          name: 'Licence',
          factory: (_args, { cluster }) => ({
            name: 'Licence',
            preEnqueue: () => (cluster.nodes.some(({ node }) => 'licence' in node.labels) ? undefined : shut),
            eventsToRegister: () => [
              {
                resource: 'Node',
                actions: ['Update'],
                hint: (pod) => {
                  seen.push(pod.name);
                  return true;
                },
              },
            ],
          }),
        },
      ],
    });
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    core.pod({ name: 'lone', cpu: 1, gates: ['example.com/wait'] });
    expect(core.states()).toEqual({ 'gang/default/red': 'gated', 'pod/lone': 'gated' });
    core.node({ name: 'a', cpu: 5 });
    expect([core.states(), seen]).toEqual([{ 'gang/default/red': 'gated', 'pod/lone': 'gated' }, ['red-0']]);
    core.node({ name: 'a', cpu: 5, labels: { licence: '1' } });
    expect(core.states()).toEqual({ 'gang/default/red': 'active', 'pod/lone': 'gated' });
    expect(await core.attempt()).toBe('planned');
  });
});
