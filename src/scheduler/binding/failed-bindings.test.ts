import { describe, expect, it } from 'vitest';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Picture } from '../../testkit/picture.ts';
import { entityInFlight } from '../testing/entity.ts';
import type { BindingPlan } from './binding-plan.ts';
import { FailedBindings } from './failed-bindings.ts';
import type { FailedBindingsOptions } from './failed-bindings.ts';

/**
 * A plan for the two members of a gang that lack a node: one is bound already. The cache is real; every neighbor records when it is
 * called, and whether the failed members still count as planned at that moment.
 */
function fixture(): { plan: BindingPlan; calls: string[]; stop: AbortController; failed: FailedBindings } {
  const calls: string[] = [];
  const record = (name: string): void => {
    calls.push(`${name}, ${picture.cluster.assumedCount} assumed`);
  };
  const picture = new Picture({
    plugins: defaultPlugins,
    extra: [{ name: 'Booking', reserve: () => undefined, unreserve: (_state, pod) => record(`unreserve ${pod.name}`) }],
  });
  picture.node({ name: 'a', cpu: 4 });
  const gang = picture.group({ name: 'red', uid: 'red-uid', minMember: 3 });
  const pods = picture.pods(3, { group: 'red', cpu: 1 });
  picture.cluster.setPod({ ...pods[0]!, nodeName: 'a' });
  const result = picture.core.cycle.run(entityInFlight({ gang }), picture.profile);
  if (result.kind !== 'planned') throw new Error(`the attempt ended ${result.kind}`);
  const stop = new AbortController();
  const { clock, cluster } = picture;
  const failed = new FailedBindings({
    intake: {
      clock,
      cluster,
      queue: { comeBack: () => record('requeue'), moveOnEvent: () => record('wake') },
      router: { podChanged: () => record('route pod'), groupChanged: () => record('route group') },
      verdicts: { report: () => record('report') },
    } as unknown as FailedBindingsOptions['intake'],
    recovery: {
      refusals: { failed: () => record('count rejection') },
      claims: { keep: () => record('reserve') },
      partial: { repairBegins: () => record('repair begins') },
    } as unknown as FailedBindingsOptions['recovery'],
    signal: stop.signal,
  });
  return { plan: result.plan, calls, stop, failed };
}

function failuresOf({ placements }: BindingPlan): { placement: BindingPlan['placements'][number]; status: Status }[] {
  return placements.map((placement) => ({ placement, status: new Status('Error', 'the node said no') }));
}

describe('members that cannot be bound', () => {
  it('leave their nodes before the queue changes, and are reported last', () => {
    const { plan, calls, failed } = fixture();
    failed.handle(plan, failuresOf(plan));
    const names = plan.placements.map(({ pod }) => pod.name);
    expect(calls).toEqual([
      `unreserve ${names[1]}, 2 assumed`,
      `unreserve ${names[0]}, 1 assumed`,
      'count rejection, 0 assumed',
      'count rejection, 0 assumed',
      'reserve, 0 assumed',
      'reserve, 0 assumed',
      'repair begins, 0 assumed',
      'requeue, 0 assumed',
      'route pod, 0 assumed',
      'wake, 0 assumed',
      'route pod, 0 assumed',
      'wake, 0 assumed',
      'route group, 0 assumed',
      'report, 0 assumed',
    ]);
  });

  it('are only undone once the scheduler has stopped', () => {
    const { plan, calls, stop, failed } = fixture();
    stop.abort();
    failed.handle(plan, failuresOf(plan));
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['unreserve', 'unreserve']);
  });

  it('do not count against their nodes when only a sibling failed', () => {
    const { plan, calls, failed } = fixture();
    const [first, second] = failuresOf(plan);
    failed.handle(plan, [first!, { ...second!, isBySibling: true }]);
    expect(calls.filter((call) => call.startsWith('count rejection'))).toHaveLength(1);
  });
});
