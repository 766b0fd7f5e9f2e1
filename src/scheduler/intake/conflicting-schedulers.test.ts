import { describe, expect, it } from 'vitest';
import { Scheduling } from '../../testkit/scheduling.ts';
import { defaultPlugins } from '../../plugins/registry.ts';

const said = 'somebody else binds pods that name this scheduler: run one with that schedulerName, or elect a leader';

function scheduling(): Scheduling {
  const core = new Scheduling({ plugins: defaultPlugins });
  core.node({ name: 'a' });
  core.node({ name: 'b' });
  return core;
}

describe('another scheduler of the same name', () => {
  it('is told of when it binds pods that wait here, once a minute', () => {
    const core = scheduling();
    for (const name of ['p0', 'p1', 'p2']) core.pod({ name, cpu: 1 });
    core.change('p0', { nodeName: 'a' });
    core.change('p1', { nodeName: 'a' });
    expect(core.harness.warnings).toEqual([said]);
    core.harness.clock.advance(60_000);
    core.change('p2', { nodeName: 'a' });
    expect(core.harness.warnings).toEqual([said, said]);
  });

  it('is told of when it binds a pod to another node than was chosen here', async () => {
    const core = scheduling();
    core.pod({ name: 'p0', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    const chosen = core.binds[0]!.binding.nodeName;
    core.change('p0', { nodeName: chosen === 'a' ? 'b' : 'a' });
    expect(core.harness.warnings).toContain(said);
  });

  it('is not made out of our own Bindings, of pods that were made on their nodes, nor of pods of other schedulers', async () => {
    const core = scheduling();
    core.pod({ name: 'p0', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    core.change('p0', { nodeName: core.binds[0]!.binding.nodeName });
    await core.accept('p0');
    core.pod({ name: 'daemon', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'foreign', cpu: 1, schedulerName: 'other' });
    core.change('foreign', { nodeName: 'a' });
    expect(core.harness.warnings).toEqual([]);
  });
});
