import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { expectBound, expectCountBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { spoilings } from '../planes/binding-spoiler.ts';
import { statusAnswer } from '../planes/api-proxy.ts';
import type { ApiProxy, Fault } from '../planes/api-proxy.ts';
import { nodesFor, playSpoiledGangs } from './spoiled-gangs.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';
import { hangsMs } from '../planes/patience.ts';

/** Bindings of a gang that fail, get lost, or are cut short by the end of the scheduler. The group is fully bound in the end. */
export const brokenBindings = {
  conflict: scenario('a group is fully bound although one of its Bindings is rejected with 409', (stage) =>
    gangThrough(stage, (binding) => (binding === 2 ? statusAnswer(409, 'Conflict', 'rejected for a test') : undefined)),
  ),

  'server-error': scenario('a group is fully bound although Bindings are repeatedly answered with 500', (stage) =>
    gangThrough(stage, (binding) =>
      binding >= 2 && binding <= 7 ? statusAnswer(500, 'InternalError', 'broken for a test') : undefined,
    ),
  ),

  rejected: scenario('a group is fully bound although Bindings of a member are at first rejected for good', (stage) =>
    gangThrough(stage, (binding) =>
      binding === 2 || binding === 4 ? statusAnswer(422, 'Invalid', 'rejected for a test') : undefined,
    ),
  ),

  slow: scenario('a group does not wait for a Binding that hangs: the scheduler sends it again', async (stage) => {
    await gangThrough(stage, async (binding, forward) => {
      if (binding !== 2) return undefined;
      await sleep(8_000);
      return forward();
    });
    stage.partialForMs = 4_000;
  }),

  'slow-answer': scenario(
    'a group does not wait for a response that hangs: the scheduler reads the pod back',
    async (stage) => {
      await gangThrough(stage, async (binding, forward) => {
        if (binding !== 2) return undefined;
        await forward();
        return never();
      });
      stage.partialForMs = 4_000;
    },
  ),

  spoiled: scenario('as many groups are fully bound as fit, although every third Binding is spoiled', async (stage) => {
    const load = { gangs: 4, fit: 3, size: 6 };
    await stage.addNodes(...nodesFor(load));
    const startScheduler = (through: ApiProxy): Promise<unknown> => stage.startScheduler({ through });
    const run = await playSpoiledGangs(
      { stage, startScheduler },
      { ...load, percent: 33, seed: 1, kinds: spoilings, slowMs: 4_000, seconds: Infinity },
    );
    stage.partialForMs = 4_000;
    const { whole, partial, spoiled } = run;
    expect({ whole, partial }).toEqual({ whole: 3, partial: 0 });
    expect(spoiled).toBeGreaterThan(spoilings.length);
    const partialMs = run.periods.map(({ from, to }) => stage.record.pulse.workedMs(from, to));
    expect(partialMs.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(9_000);
  }),

  'too-many-requests': scenario('a group is fully bound although Bindings are rejected with 429', (stage) =>
    gangThrough(stage, (binding) =>
      binding <= 3 ? statusAnswer(429, 'TooManyRequests', 'too many, for a test') : undefined,
    ),
  ),

  'lost-request': scenario(
    'a group is fully bound although the connection breaks before a Binding is carried out',
    (stage) =>
      gangThrough(stage, (binding) => {
        if (binding === 2) throw new Error('lost for a test');
        return undefined;
      }),
  ),

  'lost-answer': scenario(
    'a group is fully bound although the connection breaks after a Binding was carried out',
    (stage) =>
      gangThrough(stage, async (binding, forward) => {
        if (binding !== 2) return undefined;
        await forward();
        throw new Error('lost for a test');
      }),
  ),

  // The rival waits for the group's capacity: the queue retries it the moment that the failed member frees it.
  'contended-repair': scenario('a group with a failed Binding comes before a pod of higher priority', async (stage) => {
    stage.partialForMs = hangsMs;
    await stage.addSimulatedNodes({ name: 'three', allocatable: { cpu: '3' } });
    const proxy = await stage.openProxy();
    const rivals: string[] = [];
    proxy.fault = onBindings(async (binding) => {
      if (binding !== 2) return undefined;
      rivals.push(await stage.createPod('rival', { cpu: 1, priority: 'never' }));
      await expectVerdict(stage.record, rivals, { reason: 'Unschedulable' });
      return statusAnswer(422, 'Invalid', 'rejected for a test');
    });
    await stage.startScheduler({ through: proxy });
    await stage.createGroup('gang', { minMember: 3 });
    await expectBound(stage.record, await stage.createPods('gang', 3, { group: 'gang', cpu: 1 }));
    return () => expectNeverBound(stage.record, rivals);
  }),

  'crash-after-one': crash('one member was bound', 1, 'crash'),
  'crash-after-two': crash('two members were bound', 2, 'crash'),
  'stop-after-one': crash('one member was bound', 1, 'stop'),

  'crash-unanswered': scenario(
    'a scheduler that ends while the response is in flight leaves a group that ends fully bound',
    async (stage) => {
      stage.partialForMs = hangsMs;
      await stage.addSimulatedNodes({ name: 'three', allocatable: { cpu: '3' } });
      const proxy = await stage.openProxy();
      proxy.fault = onBindingsOfPods(async (pod, forward) => {
        if (pod === 2) await forward();
        return pod === 1 ? undefined : never();
      });
      const first = await stage.startScheduler({ through: proxy });
      await stage.createGroup('gang', { minMember: 3 });
      const gang = await stage.createPods('gang', 3, { group: 'gang', cpu: 1 });
      await expectCountBound(stage.record, gang, 2);
      await proxy.cut();
      await first.stop();
      await stage.startScheduler();
      await expectBound(stage.record, gang);
    },
  ),
} as const satisfies Record<string, Scenario>;

/** A fault for a Binding, by the number of the Binding or of its pod. */
type BindingFault = (binding: number, forward: Parameters<Fault>[1]) => ReturnType<Fault>;

/** Returns a fault for the n-th Binding request, counted from 1, repeats included. */
function onBindings(fault: BindingFault): Fault {
  let count = 0;
  return ({ method, path }, forward) =>
    method === 'POST' && path.endsWith('/binding') ? fault(++count, forward) : undefined;
}

/** Returns a fault for all Bindings of the n-th pod, counted from 1: the scheduler repeats a Binding without a response. */
export function onBindingsOfPods(fault: BindingFault): Fault {
  const pods = new Set<string>();
  return ({ method, path }, forward) => {
    if (method !== 'POST' || !path.endsWith('/binding')) return undefined;
    pods.add(path);
    return fault([...pods].indexOf(path) + 1, forward);
  };
}

function never(): Promise<undefined> {
  return new Promise(() => undefined);
}

/** Binds a gang of three that exactly fits, with a scheduler whose Bindings meet the fault. */
async function gangThrough(stage: Stage, fault: BindingFault): Promise<void> {
  stage.partialForMs = hangsMs;
  await stage.addSimulatedNodes({ name: 'two', allocatable: { cpu: '2' } }, { name: 'one', allocatable: { cpu: '1' } });
  const proxy = await stage.openProxy();
  proxy.fault = onBindings(fault);
  await stage.startScheduler({ through: proxy });
  await stage.createGroup('gang', { minMember: 3 });
  await expectBound(stage.record, await stage.createPods('gang', 3, { group: 'gang', cpu: 1 }));
}

/**
 * The scheduler ends in the middle of a gang. Before the next one starts, a whole group of higher priority arrives that needs the same
 * capacity. The partially bound gang comes first; otherwise both would be stuck.
 */
function crash(when: string, bound: number, how: 'crash' | 'stop'): Scenario {
  const what = how === 'crash' ? 'dies' : 'is stopped';
  return scenario(
    `a scheduler that ${what} when ${when} leaves a group that the next one completes first`,
    async (stage) => {
      stage.partialForMs = hangsMs;
      await stage.addSimulatedNodes({ name: 'three', allocatable: { cpu: '3' } });
      const proxy = await stage.openProxy();
      proxy.fault = onBindingsOfPods((pod) => (pod <= bound ? undefined : never()));
      const first = await stage.startScheduler({ through: proxy });
      await stage.createGroup('begun', { minMember: 3 });
      const begun = await stage.createPods('begun', 3, { group: 'begun', cpu: 1 });
      await expectCountBound(stage.record, begun, bound);
      await end(proxy, first, how);
      const left = begun.filter((key) => nodeOf(stage.record, key) === undefined);
      expectNeverBound(stage.record, left);
      const size = 3 - bound;
      await stage.createGroup('rival', { minMember: size });
      const rivals = await stage.createPods('rival', size, { group: 'rival', cpu: 1 });
      await stage.startScheduler();
      await expectBound(stage.record, begun);
      return () => expectNeverBound(stage.record, rivals);
    },
  );
}

async function end(proxy: ApiProxy, scheduler: { stop(): Promise<void> }, how: 'crash' | 'stop'): Promise<void> {
  // A process that dies sends nothing more: cut its connections first.
  if (how === 'crash') await proxy.cut();
  await scheduler.stop();
}
