import type { Intake } from '../intake/intake.ts';
import type { OngoingPreemption } from './ongoing-preemption.ts';
import { beneficiaryOf } from './preemption-texts.ts';
import type { WaitingPlans } from './waiting-plans.ts';

export interface PreemptionRequestsOptions {
  readonly intake: Pick<Intake, 'clock' | 'cluster' | 'gate'>;
  readonly plans: WaitingPlans;
  /** The plan of the pod was given up, so that it no longer uses its node. */
  readonly recalled: (uid: string) => void;
  /** All marks are written. Returns false if the preemption has ended because its plan no longer fits. */
  readonly mayEvict: (ongoing: OngoingPreemption) => boolean;
  /** A mark was refused. */
  readonly failed: (ongoing: OngoingPreemption, error: Error) => void;
}

/** Number of victims, in units, to which marks are sent in one turn of the event loop. */
const markedAtATime = 1_000;

/** Carries out a preemption: gives up the plans of victims that are not bound yet, marks all others, and only then evicts them. */
export class PreemptionRequests {
  readonly #options: PreemptionRequestsOptions;

  constructor(options: PreemptionRequestsOptions) {
    this.#options = options;
  }

  /** Resolves when the evictions have begun, or when the preemption has ended before. */
  async send(ongoing: OngoingPreemption): Promise<void> {
    const { gate, clock } = this.#options.intake;
    void this.#recall(ongoing);
    if (ongoing.units.length === 0) return;
    const marking: Promise<Error | undefined>[] = [];
    for (const [i, unit] of ongoing.units.entries()) {
      if (i > 0 && i % markedAtATime === 0) {
        await new Promise<void>((resolve) => void clock.setTimer(0, resolve));
        if (ongoing.state.kind === 'ended') return;
      }
      marking.push(unit.mark());
    }
    const errors = await Promise.all(marking);
    gate.run(() => {
      if (ongoing.state.kind === 'ended') return;
      const error = errors.find((each) => each !== undefined);
      if (error !== undefined) {
        this.#options.failed(ongoing, error);
        return;
      }
      if (!this.#options.mayEvict(ongoing)) return;
      ongoing.state = { kind: 'evicting' };
      void this.#evict(ongoing);
    });
  }

  async #recall({ schedulingEntity, plan, recalledUids }: OngoingPreemption): Promise<void> {
    const { intake, plans, recalled } = this.#options;
    await Promise.all(
      recalledUids.map(async (uid) => {
        const namespace = intake.cluster.pod(uid)?.namespace ?? '';
        const why = `makes way for ${beneficiaryOf(schedulingEntity, plan.priority, namespace)} before it was bound`;
        await plans.recall(uid, why);
        intake.gate.run(() => {
          if (!intake.cluster.isAssumed(uid)) recalled(uid);
        });
      }),
    );
  }

  /** Evicts all victims at once. Within disruption budgets, one group after the other, because a budget may allow only some of them now. */
  async #evict(ongoing: OngoingPreemption): Promise<void> {
    const { units, limits } = ongoing;
    for (const unit of units) {
      if (ongoing.state.kind === 'ended') return;
      const evicted = unit.evict();
      if (limits.keepsBudgets && unit.gangKey !== undefined) await evicted;
    }
  }
}
