import type { Pod } from '../../api/pod.ts';
import { Status } from '../../framework/status.ts';
import type { WaitingPlans } from '../preemption/waiting-plans.ts';
import type { BindingPlan } from './binding-plan.ts';
import type { PluginWaits, Rejection } from './plugin-waits.ts';

export interface RecallsOptions {
  readonly waits: Pick<PluginWaits, 'giveUp'>;
  /** Returns a promise of the end of the plan. */
  readonly ended: (plan: BindingPlan) => Promise<void> | undefined;
}

/** The plans that wait for plugins, and which of them must be given up for an entity of higher priority. */
export class Recalls implements WaitingPlans {
  readonly #options: RecallsOptions;
  /** uid of a member -> its plan, which has sent no Binding */
  readonly #plans = new Map<string, BindingPlan>();
  /** plan -> why it must be given up */
  readonly #recalled = new Map<BindingPlan, Status>();

  constructor(options: RecallsOptions) {
    this.#options = options;
  }

  /** The plan begins to wait. */
  begin(plan: BindingPlan): void {
    for (const { pod } of plan.assignments) this.#plans.set(pod.uid, plan);
  }

  /** The plan is about to be bound. Returns why it must not be. */
  end(plan: BindingPlan): Rejection | undefined {
    if (this.#plans.size === 0) return undefined;
    for (const { pod } of plan.assignments) if (this.#plans.get(pod.uid) === plan) this.#plans.delete(pod.uid);
    const status = this.#recalled.get(plan);
    this.#recalled.delete(plan);
    return status && { status };
  }

  isWaiting(uid: string): boolean {
    return this.#plans.has(uid);
  }

  podsPlannedWith(uid: string): readonly Pod[] | undefined {
    const plan = this.#plans.get(uid);
    return plan?.assignments.map(({ pod, nodeName }) => ({ ...pod, nodeName }));
  }

  recall(uid: string, why: string): Promise<void> | undefined {
    const plan = this.#plans.get(uid);
    if (plan === undefined) return undefined;
    if (!this.#recalled.has(plan)) {
      const status = new Status('Unschedulable', why);
      this.#recalled.set(plan, status);
      this.#options.waits.giveUp(plan, status);
    }
    return this.#options.ended(plan);
  }
}
