/**
 * A kit for testing plugins. It works with any test runner, or without one.
 *
 *     import { TestScheduler } from 'tutti-scheduler/testing';
 *     import type { OwnPlugin } from 'tutti-scheduler';
 *
 *     const shortNames: OwnPlugin = {
 *       name: 'ShortNames',
 *       factory: (_args, { Status }) => ({
 *         name: 'ShortNames',
 *         filter: (_state, pod, node) =>
 *           node.name.length < pod.name.length ? undefined : new Status('Unschedulable', 'the name is too long'),
 *         eventsToRegister: () => [{ resource: 'Node', actions: ['Add'] }],
 *       }),
 *     };
 *
 *     const scheduler = new TestScheduler({ plugins: [shortNames] });
 *     scheduler.setNode({ name: 'machine' });
 *     scheduler.setPod({ name: 'web' });
 *     await scheduler.expectRejected('web', { by: 'ShortNames', says: '1 the name is too long' });
 *     scheduler.setNode({ name: 'pi', cpu: 1 });
 *     await scheduler.expectBound('web', 'pi');
 *     await scheduler.stop();
 */
export { TestScheduler } from './testkit/test-scheduler.ts';
export type { TestSchedulerOptions } from './testkit/test-scheduler.ts';
export { ExpectationError } from './testkit/expectation-error.ts';
export type { LogLine } from './testkit/recording-logger.ts';
export type { PodState } from './testkit/pod-state.ts';
export { Builders } from './testkit/builders/builders.ts';
export type { NodeOptions } from './testkit/builders/node.ts';
export type { PodGroupOptions } from './testkit/builders/pod-group.ts';
export type { PodOptions } from './testkit/builders/pod.ts';
export { CycleState } from './framework/cycle-state.ts';
