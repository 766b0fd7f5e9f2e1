/**
 * Tutti as a library: run a scheduler with your own plugins.
 *
 *     import { createScheduler, Status } from 'tutti-scheduler';
 *     import type { OwnPlugin } from 'tutti-scheduler';
 *
 *     const noFridays: OwnPlugin = {
 *       name: 'NoFridays',
 *       factory: (_args, handle) => ({
 *         name: 'NoFridays',
 *         preFilter: () =>
 *           new Date(handle.clock.now()).getUTCDay() === 5 ? new Status('Unschedulable', 'nothing starts on a Friday') : undefined,
 *       }),
 *     };
 *
 *     // scheduler.url serves health and metrics. scheduler.stop() stops the scheduler.
 *     const scheduler = await createScheduler({ kubeconfig: '/path/to/kubeconfig', plugins: [noFridays] });
 *
 * `Plugin` is the contract of a plugin, and `PluginHandle` contains what a plugin can use. These are types. The handle supplies all values
 * except `Status`.
 */
export { createScheduler } from './compose/create-scheduler.ts';
export type { CreateSchedulerOptions } from './compose/create-scheduler.ts';
export { createPlayground } from './compose/create-playground.ts';
export type { Playground, PlaygroundNode, PlaygroundOptions, UntilOptions } from './compose/create-playground.ts';
export { ConditionError } from './compose/until.ts';
export type { ProfileOptions } from './compose/profile-options.ts';
export { loadConfiguration } from './config/load-configuration.ts';
export { defaultConfiguration, defaultProfile } from './config/scheduler-configuration.ts';
export type {
  ProfileConfiguration,
  ReservationsConfiguration,
  SchedulerConfiguration,
} from './config/scheduler-configuration.ts';
export type { RunningProcess } from './compose/running-process.ts';
export type { ArgumentSchema, ObjectSchema, ValueOf as ArgumentsOf } from './plugins/argument-schema.ts';
export type { OwnPlugin } from './plugins/own-plugin.ts';
export type { Node } from './api/node.ts';
export type { Pod, PodTemplate } from './api/pod.ts';
export type { GangSpec } from './cluster/gang-spec.ts';
export type { GangView, MemberState } from './cluster/gang-view.ts';
export type { Reservation } from './cluster/reservation.ts';
export type { NodeView } from './cluster/node-info.ts';
export type { ClusterEvent, EventRegistration, QueueingHint } from './framework/cluster-event.ts';
export type { CycleState } from './framework/cycle-state.ts';
export type { Diagnosis, Rejection } from './framework/diagnosis.ts';
export type { SchedulingEntity, QueueKey } from './framework/scheduling-entity.ts';
export type { NodeNames, Plugin, PluginFactory, PostFilterResult, Wait } from './framework/plugin.ts';
export type { Clock, Timer } from './base/clock.ts';
export type { EnabledPlugin } from './framework/profile.ts';
export type { Logger } from './observability/logger.ts';
export type { WaitingPod } from './framework/waiting-pods.ts';
export type { ClusterLister, PluginHandle, PodBinder, PodBinding } from './framework/plugin-handle.ts';
export type { Nomination, DryRunOptions, DryRunResult } from './framework/dry-run.ts';
export { Status } from './framework/status.ts';
export type { StatusCode } from './framework/status.ts';
