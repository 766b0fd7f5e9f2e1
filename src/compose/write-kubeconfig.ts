import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { UserError } from '../base/user-error.ts';
import { TemporaryFolderError } from './temporary-folder-error.ts';

export interface WrittenKubeconfig {
  readonly path: string;
  /** Removes a temporary file. Idempotent, and synchronous for a process that exits at once. */
  remove(): void;
}

/** File operations; tests replace them to fail. */
export interface FileOperations {
  mkdtempSync(prefix: string): string;
  writeFileSync(path: string, text: string, options: { readonly mode: number }): void;
}

/** The file of --kubeconfig is unusable. */
export class KubeconfigFileError extends UserError {
  override readonly name = 'KubeconfigFileError';

  constructor(path: string, problem: string, cause?: unknown) {
    super(`cannot write the kubeconfig to ${path}: ${problem}`, { cause });
  }
}

/**
 * Writes a kubeconfig that only this user may read, to its own folder under TMPDIR. It is synchronous, so that the process cannot
 * exit between creating the folder and registering its removal. Throws TemporaryFolderError; then nothing is left there.
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
 * Throws KubeconfigFileError unless the path is free or has a kubeconfig from `tutti up`: one cluster, user and context, all
 * named tutti, and a server on this machine.
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
  throw new KubeconfigFileError(path, 'the file was not written by tutti up. Use another file, or move this one');
}

/**
 * Writes a kubeconfig atomically, with mode 0600: readers see the old file or the new one. Throws the same errors as
 * `checkKubeconfigFile`.
 */
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
  // The file stays: the next start overwrites it, and until then kubectl reports which server does not respond.
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
  const hasOwnNames = sections.every(
    (section) =>
      Array.isArray(section) && section.length === 1 && (section[0] as { name?: string } | null)?.name === 'tutti',
  );
  return hasOwnNames && config?.clusters?.[0]?.cluster?.server?.startsWith('https://127.0.0.1:') === true;
}
