import { readFile } from 'node:fs/promises';
import type { Snapshot } from '../../../api/explain/snapshot.ts';
import { messageOf } from '../../../base/message-of.ts';
import { SnapshotError } from '../../../compose/snapshot/snapshot-error.ts';
import { unpackSnapshot } from '../../../compose/snapshot/snapshot-file.ts';

/** Reads the file of the flag --snapshot. Rejects with SnapshotError, which names the file. */
export async function loadSnapshot(path: string): Promise<Snapshot> {
  try {
    return unpackSnapshot(await readFile(path));
  } catch (error) {
    throw new SnapshotError(`--snapshot ${path}: ${messageOf(error)}`, { cause: error });
  }
}
