import type { SnapshotEntity } from '../../../api/explain/snapshot.ts';
import { UserError } from '../../../base/user-error.ts';
import { openSnapshot } from '../../../compose/snapshot/open-snapshot.ts';
import { differs, replaySnapshot } from '../../../compose/snapshot/replay-snapshot.ts';
import type { CommandContext } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { ColorMode } from '../../output/color.ts';
import type { SubjectArgument } from '../subject-argument.ts';
import { loadSnapshot } from './load-snapshot.ts';
import { printReplay } from './print-replay.ts';

/** The flags of `tutti explain`. */
export interface ReplayFlags {
  /** Path. */
  readonly snapshot: string;
  /** Absent: all. */
  readonly namespace?: string;
  readonly output: 'table' | 'wide' | 'json' | 'yaml';
  readonly headers: boolean;
  readonly color: ColorMode;
}

/** Nothing that waits in the snapshot has the name. */
export class NothingWaitsError extends UserError {
  override readonly name = 'NothingWaitsError';

  constructor({ name }: SubjectArgument) {
    super(`no pod group and no pod named ${name} waits in the snapshot`);
  }
}

/** Plans what waits in a snapshot again. Resolves to 0 if the results are those in the snapshot, otherwise to 5. */
export async function runReplay(
  subject: SubjectArgument | undefined,
  flags: ReplayFlags,
  context: CommandContext,
): Promise<number> {
  const open = openSnapshot(await loadSnapshot(flags.snapshot), context.clock);
  try {
    const replay = replaySnapshot(open, (entity) => isWanted(entity, subject, flags.namespace));
    if (subject !== undefined && replay.items.length === 0) throw new NothingWaitsError(subject);
    printReplay(replay, flags, context);
    return differs(replay) ? exitCodes.no : exitCodes.ok;
  } finally {
    await open.core.stop();
  }
}

function isWanted(
  { subject: { kind, source, namespace, name } }: SnapshotEntity,
  wanted: SubjectArgument | undefined,
  inNamespace: string | undefined,
): boolean {
  if (inNamespace !== undefined && namespace !== inNamespace) return false;
  if (wanted === undefined) return true;
  return (
    name === wanted.name && kind === (wanted.kind ?? kind) && (wanted.source === undefined || source === wanted.source)
  );
}
