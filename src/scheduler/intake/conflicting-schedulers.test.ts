import { describe, expect, it } from 'vitest';
import { Scheduling } from '../../testkit/scheduling.ts';
import { defaultPlugins } from '../../plugins/registry.ts';

const warning =
  'another process binds pods with this schedulerName: run one scheduler per schedulerName, or enable leader election';

function scheduling(): Scheduling {
  const core = new Scheduling({ plugins: defaultPlugins });
  core.node({ name: 'a' });
  core.node({ name: 'b' });
  return core;
}

describe('ConflictingSchedulers', () => {
  it('warns at most once a minute when another process binds pods that wait here', () => {
    const core = scheduling();
    for (const name of ['p0', 'p1', 'p2']) core.pod({ name, cpu: 1 });
    core.change('p0', { nodeName: 'a' });
    core.change('p1', { nodeName: 'a' });
    expect(core.harness.warnings).toEqual([warning]);
    core.harness.clock.advance(60_000);
    core.change('p2', { nodeName: 'a' });
    expect(core.harness.warnings).toEqual([warning, warning]);
  });

  it('warns when another process binds a pod to another node than planned', async () => {
    const core = scheduling();
    core.pod({ name: 'p0', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    const chosen = core.binds[0]!.binding.nodeName;
    core.change('p0', { nodeName: chosen === 'a' ? 'b' : 'a' });
    expect(core.harness.warnings).toContain(warning);
  });

  it('ignores own bindings, pods created with a node, and pods of other schedulers', async () => {
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
