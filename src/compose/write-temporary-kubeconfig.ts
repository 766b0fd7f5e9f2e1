import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TemporaryFolderError } from './temporary-folder-error.ts';

export interface TemporaryKubeconfig {
  readonly path: string;
  remove(): Promise<void>;
  /** For a process that exits at once. */
  removeNow(): void;
}

/** What it does to files; tests let it fail. */
export interface FileOperations {
  mkdtemp(prefix: string): Promise<string>;
  writeFile(path: string, text: string, options: { readonly mode: number }): Promise<void>;
}

/**
 * Writes a kubeconfig that only this user may read, to a folder of its own under TMPDIR. Rejects with TemporaryFolderError;
 * then nothing is left there.
 */
export async function writeTemporaryKubeconfig(
  text: string,
  files: FileOperations = { mkdtemp, writeFile },
): Promise<TemporaryKubeconfig> {
  let folder: string | undefined;
  const remove = async (): Promise<void> => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  try {
    folder = await files.mkdtemp(join(tmpdir(), 'tutti-'));
    const path = join(folder, 'kubeconfig');
    await files.writeFile(path, text, { mode: 0o600 });
    const removeNow = (): void => rmSync(join(path, '..'), { recursive: true, force: true });
    return { path, remove, removeNow };
  } catch (error) {
    await remove();
    throw new TemporaryFolderError('the kubeconfig', error as NodeJS.ErrnoException);
  }
}
