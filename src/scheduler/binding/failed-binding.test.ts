import { afterEach, expect, it, vi } from 'vitest';
import { Cluster } from '../../cluster/cluster.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { EntityRouter } from '../intake/entity-router.ts';
import { Reservations } from '../preemption/reservations.ts';
import { NodeRejections } from '../recovery/node-rejections.ts';
import { PartiallyBoundGangs } from '../recovery/partially-bound-gangs.ts';
import { Verdicts } from '../verdicts/verdicts.ts';
import { failedBindingSteps } from './failed-binding.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Records the calls that the parts receive from outside, not from each other. The parts still do their work. */
function recordCalls(): string[] {
  const calls: string[] = [];
  let depth = 0;
  const record = <T extends object>(part: T, method: keyof T & string): void => {
    const real = part[method] as (...args: readonly unknown[]) => unknown;
    vi.spyOn(part as Record<string, () => unknown>, method).mockImplementation(function (this: T, ...args: unknown[]) {
      if (depth === 0) calls.push(args.includes('BindingFailed') ? `${method} BindingFailed` : method);
      depth++;
      try {
        return real.apply(this, args);
      } finally {
        depth--;
      }
    });
  };
  record(Cluster.prototype, 'forget');
  record(NodeRejections.prototype, 'failed');
  record(Reservations.prototype, 'keep');
  record(PartiallyBoundGangs.prototype, 'repairBegins');
  record(SchedulingQueue.prototype, 'comeBack');
  record(SchedulingQueue.prototype, 'moveOnEvent');
  record(EntityRouter.prototype, 'podChanged');
  record(EntityRouter.prototype, 'groupChanged');
  record(Verdicts.prototype, 'report');
  return calls;
}

/** A gang of three with one bound member, and a plugin that reserves something for each member. */
async function partiallyBound(calls: string[]): Promise<Scheduling> {
  const plugin = { name: 'Reserver', unreserve: () => void calls.push('unreserve') };
  const core = new Scheduling({ plugins: defaultPlugins, extra: [plugin] });
  core.node({ name: 'a', cpu: 3 });
  core.group({ name: 'red', minMember: 3 });
  core.members(3, { group: 'red', cpu: 1 });
  await core.attempt();
  await core.accept('red-0');
  return core;
}

it('the steps are in the documented order', () => {
  expect(failedBindingSteps.map(({ step }) => step.name)).toEqual([
    'undo',
    'recordInTimeline',
    'countRejections',
    'keepCapacity',
    'requeue',
    'wakeOthers',
    'rereadGroup',
    'report',
  ]);
});

it('a failed member of a partially bound gang goes through the steps in that order', async () => {
  const calls = recordCalls();
  const core = await partiallyBound(calls);
  calls.length = 0;
  await core.reject('red-1', 'no');
  expect(calls).toEqual([
    'unreserve',
    'forget',
    'failed',
    'keep',
    'repairBegins',
    'comeBack',
    'podChanged BindingFailed',
    'groupChanged BindingFailed',
    'report',
  ]);
});

it('a failed pod wakes entities that wait for its capacity only if no reservation keeps it', async () => {
  const calls = recordCalls();
  const core = new Scheduling({ plugins: defaultPlugins });
  core.node({ name: 'a', cpu: 3 });
  core.pod({ name: 'x', cpu: 1 });
  await core.attempt();
  calls.length = 0;
  await core.reject('x', 'no');
  expect(calls).toEqual(['forget', 'failed', 'comeBack', 'podChanged BindingFailed', 'moveOnEvent', 'report']);
});

it('a stopping scheduler only undoes the plan', async () => {
  const calls = recordCalls();
  const core = await partiallyBound(calls);
  const stopped = core.harness.core.stop();
  calls.length = 0;
  for (const name of ['red-1', 'red-2']) await core.reject(name, 'stopping');
  await stopped;
  expect(calls).toEqual(['unreserve', 'forget', 'unreserve', 'forget']);
});
