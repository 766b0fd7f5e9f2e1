import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import process from 'node:process';
import { removeCgroups } from './node/cgroups.ts';

/** Name prefix of every group's folder in the temporary folder. */
export const folderPrefix = 'tutti-real-plane-';
/** Environment variable of every process of a group: its folder. It distinguishes them from all other processes of the machine. */
export const folderVariable = 'TUTTI_REAL_PLANE_FOLDER';

/**
 * Cleans up after groups whose supervisor was killed: removes folders without a living supervisor and kills the processes that were started
 * for them. Linux only, because it reads the environment of processes; elsewhere it does nothing.
 */
export async function endAbandonedGroups(): Promise<void> {
  if (process.platform !== 'linux') return;
  const folders = (await readdir(tmpdir()))
    .filter((name) => name.startsWith(folderPrefix))
    .map((name) => join(tmpdir(), name));
  if (folders.length === 0) return;
  // Folders are read first, because each supervisor starts before its folder exists.
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commandLines = await Promise.all(pids.map((pid) => readEntries(pid, 'cmdline')));
  const abandoned = folders.filter((folder) => !commandLines.some((words) => words.includes(folder)));
  if (abandoned.length === 0) return;
  const marks = new Set(abandoned.map((folder) => `${folderVariable}=${folder}`));
  await Promise.all(
    pids.map(async (pid) => {
      const environment = await readEntries(pid, 'environ');
      if (environment.some((entry) => marks.has(entry))) kill(Number(pid));
    }),
  );
  await Promise.all(abandoned.map((folder) => removeCgroups(basename(folder)).catch(() => undefined)));
  await Promise.all(abandoned.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
}

/** Returns an empty list when the process is gone or belongs to another user. */
async function readEntries(pid: string, file: 'cmdline' | 'environ'): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  return text.split('\0');
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
