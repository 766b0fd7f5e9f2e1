import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import process from 'node:process';

const intervalMs = 250;

/**
 * Runs `work` while no other process of this machine runs something under the same lock file. Takes over the lock of a dead process. Calls
 * `onWait` once if another process holds the lock.
 *
 * Two processes that take over a dead lock in the same instant may both run. Running the work twice must only be wasteful, never wrong.
 */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  onWait?: (pid: number) => void,
): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  let isReported = false;
  while (!(await tryLock(path))) {
    const holder = Number(await readFile(path, 'utf8').catch(() => ''));
    if (holder > 0 && !isAlive(holder)) {
      const dead = `${path}.${randomUUID()}`;
      await rename(path, dead).catch(() => undefined);
      await rm(dead, { force: true });
      continue;
    }
    if (!isReported && holder > 0) onWait?.(holder);
    isReported ||= holder > 0;
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** A hard link appears together with its content, so a reader always finds the holder in the lock. */
async function tryLock(path: string): Promise<boolean> {
  const own = `${path}.${randomUUID()}`;
  await writeFile(own, String(process.pid));
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
