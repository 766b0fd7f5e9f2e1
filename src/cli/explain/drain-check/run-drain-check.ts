import { explainApiVersion } from '../../../api/explain/basis.ts';
import type { PartError } from '../../../api/explain/basis.ts';
import type { Snapshot } from '../../../api/explain/snapshot.ts';
import type { DrainCheck } from '../../../api/explain/lists.ts';
import { listedPath, projectListed } from '../../../api/listed-object.ts';
import type { PodDisruptionBudget } from '../../../api/pod-disruption-budget.ts';
import { CollectionLister } from '../../../compose/cluster-state/collection-lister.ts';
import { loadClusterState } from '../../../compose/cluster-state/load-cluster-state.ts';
import { openSnapshot } from '../../../compose/snapshot/open-snapshot.ts';
import type { ConnectionFlags, PrintFlags, SchedulerLookupFlags } from '../../cluster-flags.ts';
import type { CommandContext } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { printNote } from '../../output/print.ts';
import { withUnknowns } from '../complete-explanation.ts';
import { loadSnapshot } from '../snapshot/load-snapshot.ts';
import type { SnapshotFlag } from '../snapshot/snapshot-flag.ts';
import { withCluster } from '../with-cluster.ts';
import { forecastDrain, unknownsOf } from './drain-forecast.ts';
import type { DrainForecast } from './drain-forecast.ts';
import { printDrainCheck } from './print-drain-check.ts';
import { shortBudgets } from './short-budgets.ts';
import { visibleDrain } from './visible-drain.ts';

/** The flags of `tutti drain-check`. */
export interface DrainCheckFlags extends ConnectionFlags, SchedulerLookupFlags, PrintFlags, SnapshotFlag {}

/**
 * Prints what a drain of the nodes would do to pod groups. Resolves to 0 if it is safe for all of them, or if that is unknown; otherwise to 5.
 * Rejects with HiddenClusterError if the caller may not list any pods.
 */
export async function runDrainCheck(
  nodes: readonly string[],
  flags: DrainCheckFlags,
  context: CommandContext,
): Promise<number> {
  const { clock, random, interruption } = context;
  const { signal } = interruption;
  const { schedulerName: schedulerNames, schedulerNamespace: namespace, snapshot } = flags;
  if (snapshot !== undefined) return checkSnapshot(nodes, await loadSnapshot(snapshot), flags, context);
  return withCluster(flags, context, async ({ client, namespace: own }) => {
    const lookup = { namespace, schedulerNames };
    const state = await loadClusterState({ client, clock, random, signal, orNamespaces: [own!], ...lookup });
    const { core, hidden } = state;
    try {
      // Not even the pods of the namespace are known.
      if (hidden !== undefined && state.errors.some(({ part }) => part === 'pods')) throw hidden;
      const forecast = hidden === undefined ? forecastDrain(core, nodes, clock.now()) : visibleDrain(core, nodes);
      const budgets: PodDisruptionBudget[] = [];
      const errors: PartError[] = [];
      const budgetPath = listedPath('PodDisruptionBudget', hidden === undefined ? undefined : own);
      await new CollectionLister({ client, signal }, errors).fill(budgetPath, (raw) =>
        budgets.push(projectListed('PodDisruptionBudget', raw)),
      );
      const part = errors[0]?.part;
      // The scheduler may read the budgets too.
      const all = [...state.errors.filter((error) => error.part !== part), ...errors];
      const exitCode = report(nodes, forecast, { basis: state.basis, budgets, errors: all }, flags, context);
      if (hidden !== undefined)
        printNote(`Only the pods of namespace ${own} are known, and no nodes: ${hidden.message}.`, context);
      return exitCode;
    } finally {
      await core.stop();
    }
  });
}

async function checkSnapshot(
  nodes: readonly string[],
  snapshot: Snapshot,
  flags: DrainCheckFlags,
  context: CommandContext,
): Promise<number> {
  const { core, basis } = openSnapshot(snapshot, context.clock);
  try {
    const forecast = forecastDrain(core, nodes, Date.parse(snapshot.takenAt));
    const budgets = snapshot.objects.filter((object) => object.kind === 'PodDisruptionBudget');
    return report(nodes, forecast, { basis, budgets, errors: [] }, flags, context);
  } finally {
    await core.stop();
  }
}

/** Prints the forecast. Returns the exit code. */
function report(
  nodes: readonly string[],
  forecast: DrainForecast,
  {
    basis,
    budgets,
    errors,
  }: Pick<DrainCheck, 'basis' | 'errors'> & { readonly budgets: readonly PodDisruptionBudget[] },
  flags: DrainCheckFlags,
  context: CommandContext,
): number {
  const { items, lost, notJudged, displaced } = forecast;
  const check: DrainCheck = {
    apiVersion: explainApiVersion,
    kind: 'DrainCheck',
    basis: withUnknowns(basis, unknownsOf(forecast)),
    nodes: [...new Set(nodes)],
    items,
    budgets: shortBudgets(budgets, displaced),
    lost,
    notJudged,
    errors,
  };
  printDrainCheck(check, flags, context);
  return items.every(({ outcome = 'safe' }) => outcome === 'safe') ? exitCodes.ok : exitCodes.no;
}
