import { installedConfiguration } from '../../../compose/cluster-state/installed-configuration.ts';
import type {
  ConnectionFlags,
  NamespaceFlags,
  PrintFlags,
  SchedulerLookupFlags,
  SelectorFlags,
} from '../../cluster-flags.ts';
import type { CommandContext } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { openSnapshot } from '../../../compose/snapshot/open-snapshot.ts';
import { loadSnapshot } from '../snapshot/load-snapshot.ts';
import type { SnapshotFlag } from '../snapshot/snapshot-flag.ts';
import { statusOfSnapshot } from './status-of-snapshot.ts';
import type { SubjectArgument } from '../subject-argument.ts';
import { withCluster } from '../with-cluster.ts';
import type { OpenCluster } from '../with-cluster.ts';
import { followStatus } from './follow-status.ts';
import { loadStatus, missingSubjects, notFound } from './load-status.ts';
import { printStatus } from './print-status.ts';

/** The flags of `tutti status`. */
export interface StatusFlags
  extends ConnectionFlags, NamespaceFlags, SelectorFlags, SchedulerLookupFlags, PrintFlags, SnapshotFlag {
  readonly pods?: true;
  readonly watch?: true;
}

/**
 * Prints the pod groups and why they wait. Resolves to 1 if nothing could be listed, or if something that the user has named does not
 * exist; otherwise to 0, also if one part failed. With `watch`, it then prints changes until a signal ends the command.
 */
export async function runStatus(
  subjects: readonly SubjectArgument[],
  flags: StatusFlags,
  context: CommandContext,
): Promise<number> {
  const { signal } = context.interruption;
  if (flags.snapshot !== undefined) return printSnapshot(flags.snapshot, subjects, flags, context);
  return withCluster(flags, context, async (cluster) => {
    const { client, namespace } = cluster;
    const podsOf = flags.pods === true ? await schedulerNames(cluster, flags, signal) : undefined;
    const selection = { namespace, selector: flags.selector, subjects, podsOf };
    const list = await loadStatus({ client, ...selection, now: context.clock.now(), signal });
    if (flags.watch === true && (list.items.length > 0 || list.errors.every(({ message }) => message === notFound)))
      return followStatus(client, list, selection, flags, context);
    printStatus(list, namespace === undefined, flags, context);
    const isMissing = missingSubjects(subjects, list.items).length > 0;
    const hasFailed = isMissing || (list.items.length === 0 && list.errors.length > 0);
    return hasFailed ? exitCodes.failed : exitCodes.ok;
  });
}

async function printSnapshot(
  path: string,
  subjects: readonly SubjectArgument[],
  flags: StatusFlags,
  context: CommandContext,
): Promise<number> {
  const open = openSnapshot(await loadSnapshot(path), context.clock);
  const { core } = open;
  try {
    const namespace = flags.allNamespaces === true ? undefined : flags.namespace;
    const podsOf = flags.pods === true ? (flags.schedulerName ?? core.profiles.schedulerNames) : undefined;
    const list = statusOfSnapshot(open, { namespace, subjects, podsOf });
    printStatus(list, namespace === undefined, flags, context);
    return list.errors.length > 0 ? exitCodes.failed : exitCodes.ok;
  } finally {
    await core.stop();
  }
}

async function schedulerNames(
  { client }: OpenCluster,
  { schedulerName, schedulerNamespace }: SchedulerLookupFlags,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (schedulerName !== undefined) return schedulerName;
  const { configuration } = await installedConfiguration({ client, namespace: schedulerNamespace, signal });
  return configuration.profiles.map(({ schedulerName: name }) => name);
}
