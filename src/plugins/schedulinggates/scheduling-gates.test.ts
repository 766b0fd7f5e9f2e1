import { describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import { Gang } from '../../cluster/gang.ts';
import { createSchedulingGates } from './scheduling-gates.ts';

const build = new Builders();
const plugin = createSchedulingGates(undefined, pluginHandle(build));

describe('scheduling gates', () => {
  it('keep a single pod out of the active queue, with their names in the reason', () => {
    const pod = build.projectedPod({ gates: ['example.com/quota', 'example.com/image'] });
    expect(plugin.preEnqueue!({ kind: 'pod', pod })).toMatchObject({
      code: 'UnschedulableAndUnresolvable',
      message: 'waiting for scheduling gates: [example.com/quota example.com/image]',
      plugin: 'SchedulingGates',
    });
  });

  it('accept a pod without gates', () => {
    expect(plugin.preEnqueue!({ kind: 'pod', pod: build.projectedPod() })).toBeUndefined();
  });

  it('leave gangs to their own readiness', () => {
    const gang = new Gang('default/red');
    gang.setMember(build.projectedPod({ group: 'red', gates: ['example.com/quota'] }));
    expect(plugin.preEnqueue!({ kind: 'gang', gang })).toBeUndefined();
  });
});
