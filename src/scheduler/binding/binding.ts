import { outcomeOf } from '../../framework/plugin-meter.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Extenders } from '../extenders/extenders.ts';
import type { Intake } from '../intake/intake.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { SchedulerMetrics } from '../metrics/scheduler-metrics.ts';
import { NodeCheck } from '../placement/planning/node-check.ts';
import type { EventSink } from '../ports.ts';
import type { Recovery } from '../recovery/recovery.ts';
import { BindingCycle } from './binding-cycle.ts';
import { BindingOutcomes } from './binding-outcomes.ts';
import { stillHolds } from './still-holds.ts';

export interface BindingOptions {
  readonly intake: Intake;
  readonly recovery: Recovery;
  /** Undefined if no extender is configured. */
  readonly extenders: Extenders | undefined;
  readonly events: EventSink;
  readonly metrics: SchedulerMetrics;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  /** Runs the callback after the event loop has served pending I/O. */
  readonly defer: (callback: () => void) => void;
  /** Work of one turn of the event loop, in the unit of SchedulerCore.attempt. */
  readonly workAtATime: number;
  /** Identity of this process. It distinguishes the process's plans from those of other schedulers. */
  readonly identity: string;
}

/** Cost of starting a Binding, in node evaluations. */
const workPerStart = 200;

/** Creates the third part of the core, which binds plans and handles the results. Returns the binding cycle. */
export function createBinding(options: BindingOptions): BindingCycle {
  const { intake, recovery, extenders, events, metrics, logger, lifecycle, identity, defer, workAtATime } = options;
  const { cluster, router, clock, gate } = intake;
  const signal = lifecycle.stopping;
  const outcomes = new BindingOutcomes({ intake, recovery, events, metrics, logger, signal });
  const nodeCheck = new NodeCheck(cluster);
  let plans = 0;
  const binding = new BindingCycle({
    report: (result) => gate.run(() => outcomes.handle(result)),
    betweenAttempts: (look) => gate.ask(look),
    stillHolds: (plan, assignment, failed) => stillHolds(cluster, plan, assignment, failed),
    revision: () => cluster.generation,
    misfits: (plan, assignments, since) => nodeCheck.problems(plan.profile, assignments, since, plan.assignments),
    bindOutside: extenders && ((pod, podBinding, end) => extenders.bind(pod, podBinding, end)),
    permitWaited: (status, ms) => metrics.plugins.permitWaited(outcomeOf(status), ms),
    clock,
    nextTurn: () => new Promise(defer),
    startsPerTurn: Math.max(1, Math.ceil(workAtATime / workPerStart)),
    planId: () => `${identity}-${++plans}`,
    signal,
    bindSignal: lifecycle.bindSignal,
  });
  router.holdWhile((key) => binding.isStarting(cluster.gang(key)));
  intake.groupSeen.add((key) => binding.reconcile(key));
  return binding;
}
