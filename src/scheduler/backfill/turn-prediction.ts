import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Pool } from './pools.ts';
import type { FuturePlan, StartRequest, StartSearch } from './start-search.ts';
import type { PredictedTurn, Turn } from './turn.ts';

/** An entity to predict a start for. */
export interface PredictionRequest extends Omit<StartRequest, keyof Pool> {
  /** Whether nodes may be drained for it. */
  readonly mayDrain: boolean;
  /** Its present turn. */
  readonly before: Turn | undefined;
  /** The pools to look into; if it has a turn, that pool comes first. */
  readonly pools: readonly Pool[];
  /** Names of nodes on which a preemption has reserved capacity. */
  readonly promised: ReadonlySet<string>;
}

/** Decides where an entity has its turn: in the pool that it has already, otherwise in the one where it starts first. */
export class TurnPrediction {
  readonly #search: StartSearch;

  constructor(search: StartSearch) {
    this.#search = search;
  }

  /** Returns undefined if no pool will have enough capacity, and it is not time yet to drain nodes. Runs in steps. */
  *steps(request: PredictionRequest, budget: WorkBudget): Yielding<PredictedTurn | undefined> {
    const { before, pools } = request;
    const isDraining = before !== undefined && before.future.startsAt === undefined;
    if (!isDraining) {
      let best: (PredictedTurn & { readonly startsAt: number }) | undefined;
      for (const pool of pools) {
        const future = yield* this.#earliest(request, pool, budget);
        const startsAt = future?.startsAt ?? Infinity;
        if (future !== undefined && startsAt < (best?.startsAt ?? Infinity))
          best = { pool: pool.name, future, startsAt };
        if (best !== undefined && best.pool === before?.pool) break;
      }
      if (best !== undefined || !request.mayDrain) return best;
    }
    for (const pool of pools) {
      const future = yield* this.#drain(request, pool, budget);
      if (future !== undefined) return { pool: pool.name, future };
    }
    return undefined;
  }

  *#earliest(request: PredictionRequest, pool: Pool, budget: WorkBudget): Yielding<FuturePlan | undefined> {
    const { before, promised } = request;
    const search = this.#search;
    const held =
      before?.pool === pool.name
        ? { since: before.since, from: before.future.from, priority: before.plan.priority }
        : undefined;
    const latest = held && before!.future.startsAt;
    if (latest !== undefined && promised.size > 0) {
      const own = before!.nodeNames;
      const names = pool.nodes.map(({ name }) => name).filter((name) => own.has(name) || !promised.has(name));
      // Otherwise a preemptor of a lower priority would lose the capacity each time, and evict further pods.
      const elsewhere = yield* search.earliest({ ...request, ...within(pool, new Set(names)), held }, budget);
      if ((elsewhere?.startsAt ?? Infinity) <= latest) return elsewhere;
    }
    const found = yield* search.earliest({ ...request, ...pool, held }, budget);
    if (latest === undefined || (found?.startsAt ?? Infinity) <= latest) return found;
    // The plan for all nodes need not be the best one, and a start must not move without need.
    const same = yield* search.earliest({ ...request, ...within(pool, before!.nodeNames), held }, budget);
    return (same?.startsAt ?? Infinity) < (found?.startsAt ?? Infinity) ? same : found;
  }

  /** While the entity still fits on the nodes that it drains, it keeps them. */
  *#drain(request: PredictionRequest, pool: Pool, budget: WorkBudget): Yielding<FuturePlan | undefined> {
    const { before } = request;
    const search = this.#search;
    if (before?.pool === pool.name) {
      const same = yield* search.draining({ ...request, ...within(pool, before.nodeNames) }, budget);
      // Pods that started beside the reservation must not let others run for longer.
      if (same !== undefined) return { ...same, from: Math.min(same.from, before.future.from) };
    }
    return yield* search.draining({ ...request, ...pool }, budget);
  }
}

/** Returns the pool's nodes with these names. */
function within(pool: Pool, names: ReadonlySet<string>): Pool {
  return { ...pool, nodes: pool.nodes.filter(({ name }) => names.has(name)), within: names };
}
