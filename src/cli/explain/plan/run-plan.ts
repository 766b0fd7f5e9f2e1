import { explainApiVersion } from '../../../api/explain/basis.ts';
import type { PlanResult } from '../../../api/explain/lists.ts';
import { UserError } from '../../../base/user-error.ts';
import { safeLines } from '../../../base/safe-text.ts';
import type { ClusterState } from '../../../compose/cluster-state/load-cluster-state.ts';
import { openSnapshot } from '../../../compose/snapshot/open-snapshot.ts';
import { loadClusterState } from '../../../compose/cluster-state/load-cluster-state.ts';
import type { ConnectionFlags, SchedulerLookupFlags } from '../../cluster-flags.ts';
import type { CommandContext } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { loadManifests } from '../../manifests/load-manifests.ts';
import { ManifestError } from '../../manifests/manifest.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import type { ColorMode } from '../../output/color.ts';
import { printNote } from '../../output/print.ts';
import { serialize } from '../../output/serialize.ts';
import { withUnknowns } from '../complete-explanation.ts';
import { loadSnapshot } from '../snapshot/load-snapshot.ts';
import { noApiServer } from '../snapshot/no-api-server.ts';
import type { SnapshotFlag } from '../snapshot/snapshot-flag.ts';
import { withCluster } from '../with-cluster.ts';
import type { OpenCluster } from '../with-cluster.ts';
import { addToCluster } from './add-to-cluster.ts';
import { admitObjects } from './admission.ts';
import { withoutNodes } from './without-nodes.ts';
import { planAdded } from './plan-added.ts';
import { plannedObjects } from './planned-objects.ts';
import type { PlannedObject } from './planned-object.ts';
import { printPlan } from './print-plan.ts';

/** The flags of `tutti plan`. */
export interface PlanFlags extends ConnectionFlags, SchedulerLookupFlags, SnapshotFlag {
  readonly file: readonly string[];
  /** Absent: the namespace of the context. */
  readonly namespace?: string;
  readonly local?: true;
  readonly ifVersion?: string;
  readonly output: 'text' | 'json' | 'yaml';
  readonly color: ColorMode;
}

/** The files cannot be planned. The message names the file, document, line and field of each problem. */
class UnplannableError extends UserError {
  override readonly name = 'UnplannableError';

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(['cannot plan the manifests:', ...problems].join('\n  '), options);
  }
}

/**
 * Plans the workloads of manifests on a copy of the cluster. Resolves to 0 if all would start now, to 5 if not, or if the cluster has another
 * version than the user wants, and to 2 if the files cannot be planned.
 */
export async function runPlan(flags: PlanFlags, context: CommandContext): Promise<number> {
  try {
    const manifests = await manifestsOf(flags, context);
    if (flags.snapshot !== undefined) {
      const { objects } = plannedObjects(manifests, flags.namespace ?? 'default');
      return await plan(objects, { client: noApiServer }, flags, context);
    }
    return await withCluster(flags, context, async (cluster) => {
      const { objects, problems } = plannedObjects(manifests, cluster.namespace!);
      if (problems.length > 0) throw new UnplannableError(problems);
      return plan(objects, cluster, flags, context);
    });
  } catch (error) {
    if (!(error instanceof UnplannableError)) throw error;
    context.stderr.write(`${safeLines(`tutti: ${error.message}`)}\n`);
    return exitCodes.usage;
  }
}

/** Problems that need no cluster are reported without one. */
async function manifestsOf({ file }: PlanFlags, { readInput }: CommandContext): Promise<readonly Manifest[]> {
  try {
    const manifests = await loadManifests(file, readInput);
    const { problems } = plannedObjects(manifests, '');
    if (problems.length > 0) throw new UnplannableError(problems);
    return manifests;
  } catch (error) {
    if (error instanceof ManifestError) throw new UnplannableError(error.problems, { cause: error });
    throw error;
  }
}

async function plan(
  planned: readonly PlannedObject[],
  { client }: Pick<OpenCluster, 'client'> | { readonly client: typeof noApiServer },
  flags: PlanFlags,
  context: CommandContext,
): Promise<number> {
  const { clock, random, interruption } = context;
  const { signal } = interruption;
  const { schedulerName: schedulerNames, schedulerNamespace, ifVersion, snapshot } = flags;
  const isLocal = flags.local === true || snapshot !== undefined;
  const { objects, admission, rejected, notes } = await admitObjects(planned, { client, signal, isLocal });
  const lookup = { namespace: schedulerNamespace, schedulerNames };
  const orNamespaces = planned.map(({ namespace }) => namespace);
  const state: ClusterState =
    snapshot === undefined
      ? await loadClusterState({ client, clock, random, signal, orNamespaces, ...lookup })
      : openSnapshot(await loadSnapshot(snapshot), clock);
  const { core, errors: unlisted, hidden } = state;
  try {
    if (ifVersion !== undefined && ifVersion !== state.basis.version) {
      const what =
        hidden === undefined
          ? `The cluster has changed: its version is ${state.basis.version}, not ${ifVersion}.`
          : `The version of the cluster is unknown: ${hidden.message}.`;
      printNote(what, context);
      return exitCodes.no;
    }
    const known = admission === 'local' ? withUnknowns(state.basis, ['admission']) : state.basis;
    const hasClaims = planned.some(({ object }) => (object.spec?.volumeClaimTemplates?.length ?? 0) > 0);
    const added = addToCluster(core, objects, clock.now());
    const plan = planAdded(core, added, hasClaims ? withUnknowns(known, ['volumes']) : known, unlisted);
    const { basis } = plan;
    const items = hidden === undefined ? plan.items : plan.items.map(withoutNodes);
    const problems = [...rejected, ...added.errors];
    const result: PlanResult = {
      apiVersion: explainApiVersion,
      kind: 'PlanResult',
      basis,
      admission,
      items,
      errors: [...problems, ...notes, ...unlisted],
    };
    if (flags.output === 'text') printPlan(result, flags, context);
    else context.stdout.write(serialize(result, flags.output));
    if (hidden !== undefined) printNote(`Whether anything would start now is unknown: ${hidden.message}.`, context);
    return problems.length === 0 && items.every(({ fits }) => fits !== false) ? exitCodes.ok : exitCodes.no;
  } finally {
    await core.stop();
  }
}
