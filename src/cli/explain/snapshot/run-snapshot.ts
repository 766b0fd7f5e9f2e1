import { writeFile } from 'node:fs/promises';
import type { Snapshot } from '../../../api/explain/snapshot.ts';
import { UserError } from '../../../base/user-error.ts';
import { loadClusterState } from '../../../compose/cluster-state/load-cluster-state.ts';
import { anonymizeSnapshot } from '../../../compose/snapshot/anonymize-snapshot.ts';
import { snapshotOfState } from '../../../compose/snapshot/snapshot-of-state.ts';
import { packSnapshot, unpackSnapshot } from '../../../compose/snapshot/snapshot-file.ts';
import type { ConnectionFlags, SchedulerLookupFlags } from '../../cluster-flags.ts';
import type { CommandContext } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { OutputFileError } from '../../output/output-file-error.ts';
import { printNote } from '../../output/print.ts';
import { askLeader } from '../leader/ask-leader.ts';
import type { LeaderFlags } from '../leader/leader-flags.ts';
import { withCluster } from '../with-cluster.ts';
import type { OpenCluster } from '../with-cluster.ts';

/** The flags of `tutti snapshot`. */
export interface SnapshotFlags extends ConnectionFlags, SchedulerLookupFlags, LeaderFlags {
  /** Path; `-`: standard output. */
  readonly output: string;
  readonly source: 'auto' | 'scheduler' | 'api';
  readonly anonymize?: true;
}

/** A terminal cannot show the file. */
export class TerminalOutputError extends UserError {
  override readonly name = 'TerminalOutputError';

  constructor() {
    super('a snapshot is compressed and cannot be shown in a terminal: choose a file with --output');
  }
}

/** Writes a snapshot of the cluster. Resolves to 0. */
export async function runSnapshot(flags: SnapshotFlags, context: CommandContext): Promise<number> {
  const { output, anonymize } = flags;
  if (output === '-' && context.stdout.isTTY === true) throw new TerminalOutputError();
  const taken = await withCluster({ ...flags, allNamespaces: true }, context, async (cluster) => {
    const ofLeader = await askLeader((leader) => leader.download('/debug/snapshot'), cluster, flags, context);
    return ofLeader === undefined ? takeFromApi(cluster, flags, context) : unpackSnapshot(ofLeader);
  });
  const snapshot = anonymize === true ? anonymized(taken, context) : taken;
  const bytes = packSnapshot(snapshot);
  if (output === '-') context.stdout.write(bytes);
  else await write(output, bytes);
  return exitCodes.ok;
}

/** Lists what the caller may list, and plans what waits. */
async function takeFromApi(
  { client }: OpenCluster,
  { schedulerName: schedulerNames, schedulerNamespace: namespace }: SnapshotFlags,
  context: CommandContext,
): Promise<Snapshot> {
  const { clock, random, interruption } = context;
  const { signal } = interruption;
  const state = await loadClusterState({ client, clock, random, signal, namespace, schedulerNames });
  try {
    for (const { part, message } of state.errors) printNote(`${part}: ${message}`, context);
    return snapshotOfState(state);
  } finally {
    await state.core.stop();
  }
}

function anonymized(snapshot: Snapshot, context: CommandContext): Snapshot {
  const { snapshot: result, changedPlans } = anonymizeSnapshot(snapshot);
  if (changedPlans > 0) {
    const what = changedPlans === 1 ? '1 plan differs' : `${changedPlans} plans differ`;
    printNote(`${what} from those before the names were replaced.`, context);
  }
  return result;
}

async function write(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await writeFile(path, bytes, { mode: 0o600 });
  } catch (error) {
    throw new OutputFileError('the snapshot', path, error as NodeJS.ErrnoException);
  }
}
