import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { UserError } from '../base/user-error.ts';
import { TemporaryFolderError } from './temporary-folder-error.ts';

export interface WrittenKubeconfig {
  readonly path: string;
  /** Idempotent. Synchronous, for a process that exits at once. */
  remove(): void;
}

/** What is done to files; tests let it fail. */
export interface FileOperations {
  mkdtempSync(prefix: string): string;
  writeFileSync(path: string, text: string, options: { readonly mode: number }): void;
}

/** The file that --kubeconfig names cannot be used. */
export class KubeconfigFileError extends UserError {
  override readonly name = 'KubeconfigFileError';

  constructor(path: string, problem: string, cause?: unknown) {
    super(`cannot write the kubeconfig to ${path}: ${problem}`, { cause });
  }
}

/**
 * Writes a kubeconfig that only this user may read, to a folder of its own under TMPDIR. Synchronous, so that no exit of the process can come between the folder
 * and its removal. Throws TemporaryFolderError; then nothing is left there.
 */
export function writeTemporaryKubeconfig(
  text: string,
  files: FileOperations = { mkdtempSync, writeFileSync },
): WrittenKubeconfig {
  let folder: string | undefined;
  const remove = (): void => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  try {
    folder = files.mkdtempSync(join(tmpdir(), 'tutti-'));
    const path = join(folder, 'kubeconfig');
    files.writeFileSync(path, text, { mode: 0o600 });
    return { path, remove };
  } catch (error) {
    remove();
    throw new TemporaryFolderError('the kubeconfig', error as NodeJS.ErrnoException);
  }
}

/**
 * Throws KubeconfigFileError unless the path is free or holds a kubeconfig that `tutti up` wrote: one cluster, user and context, all named tutti, and a server
 * on this machine.
 */
export function checkKubeconfigFile(path: string): void {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    throw new KubeconfigFileError(path, message, error);
  }
  if (text.trim() === '' || isOwn(text)) return;
  throw new KubeconfigFileError(path, 'the file was not written by tutti up. Name another file, or move this one away');
}

/** Writes a kubeconfig, mode 0600, in one step: readers see the old file or the new one. The same exceptions as `checkKubeconfigFile`. */
export function writeKubeconfigFile(path: string, text: string): WrittenKubeconfig {
  checkKubeconfigFile(path);
  const target = resolve(path);
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(dirname(target), '.tutti-'));
    const unfinished = join(folder, 'kubeconfig');
    writeFileSync(unfinished, text, { mode: 0o600 });
    renameSync(unfinished, target);
  } catch (error) {
    throw new KubeconfigFileError(path, (error as Error).message, error);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
  // The file stays: the next start overwrites it, and until then kubectl says which server does not answer.
  return { path: target, remove: () => undefined };
}

interface Kubeconfig {
  readonly clusters?: readonly { readonly name?: string; readonly cluster?: { readonly server?: string } }[];
  readonly users?: readonly { readonly name?: string }[];
  readonly contexts?: readonly { readonly name?: string }[];
}

function isOwn(text: string): boolean {
  let config: Kubeconfig | null;
  try {
    config = parse(text) as Kubeconfig | null;
  } catch {
    return false;
  }
  const sections: unknown[] = [config?.clusters, config?.users, config?.contexts];
  const isNamedSo = sections.every(
    (section) =>
      Array.isArray(section) && section.length === 1 && (section[0] as { name?: string } | null)?.name === 'tutti',
  );
  return isNamedSo && config?.clusters?.[0]?.cluster?.server?.startsWith('https://127.0.0.1:') === true;
}
