import { describe, expect, it } from 'vitest';
import { Queueing } from '../../testkit/queueing.ts';
import { defaultPlugins } from '../registry.ts';

/** Nodes of one zone: `a` has 2 cpu, the others 1. */
class Waiting extends Queueing {
  constructor() {
    super({ plugins: defaultPlugins });
    for (const [name, cpu] of Object.entries({ a: 2, b: 1, c: 1 })) this.node({ name, cpu, labels: { zone: 'z' } });
  }

  /** Runs all attempts, after every backoff. Returns the names of the evicted pods. */
  evicted(): readonly string[] {
    this.harness.clock.advance(20_000);
    const before = this.harness.preempted.length;
    while (this.harness.core.attempt() !== undefined);
    return this.harness.preempted.slice(before).map((text) => text.split(' ')[0]!);
  }
}

describe('an entity for which preemption did not help is retried when', () => {
  it('a pod on another node has left, which only the search found to be in the way', () => {
    const core = new Waiting();
    core.pod({ name: 'low', cpu: 2, priority: 0, nodeName: 'a' });
    core.pod({ name: 'apart', cpu: 1, priority: 5000, nodeName: 'b', labels: { app: 'apart' } });
    const podAntiAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'apart' } }, topologyKey: 'zone' },
      ],
    };
    core.pod({ name: 'x', cpu: 2, priority: 1000, spec: { affinity: { podAntiAffinity } } });
    expect(core.evicted()).toEqual([]);
    core.removePod('apart');
    expect(core.evicted()).toEqual(['low']);
  });

  it('a pod of higher priority starts to terminate', () => {
    const core = new Waiting();
    core.pod({ name: 'ending', cpu: 1, priority: 5000, nodeName: 'a' });
    core.pod({ name: 'low', cpu: 1, priority: 0, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 2, priority: 1000 });
    expect(core.evicted()).toEqual([]);
    // Its hint reads sums that include this node.
    core.pod({ name: 'other', cpu: 1, priority: 5000, nodeName: 'b' });
    core.removePod('other');
    expect(core.evicted()).toEqual([]);
    core.change('ending', { deleting: true });
    expect(core.evicted()).toEqual(['low']);
  });

  it.each<[string, (core: Waiting) => void]>([
    ['gets another member', (core) => core.pod({ name: 'm-2', group: 'm', cpu: 1, priority: 5000, nodeName: 'c' })],
    ['needs fewer members', (core) => core.group({ name: 'm', minMember: 1 })],
    ['is deleted', (core) => core.removeGroup('default/m')],
    ['loses the member that had to stay', (core) => core.removePod('m-1')],
  ])('a group with a member of lower priority %s', (_what, change) => {
    const core = new Waiting();
    core.group({ name: 'm', minMember: 2 });
    core.pod({ name: 'm-0', group: 'm', cpu: 2, priority: 10, nodeName: 'a' });
    core.pod({ name: 'm-1', group: 'm', cpu: 1, priority: 5000, nodeName: 'b' });
    core.pod({ name: 'x', cpu: 2, priority: 500 });
    expect(core.evicted()).toEqual([]);
    change(core);
    expect(core.evicted()).toEqual(['m-0']);
  });
});
