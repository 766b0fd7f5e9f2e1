import { existsSync } from 'node:fs';
import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';

const mounted = '/sys/fs/cgroup';
const attempts = 100;
const intervalMs = 50;

/** Creates the cgroup `name` at the top of every hierarchy: one, or with cgroup v1 one per controller. */
export async function makeCgroups(name: string): Promise<void> {
  for (const hierarchy of await hierarchies()) await mkdir(join(hierarchy, name), { recursive: true });
}

/** Removes the cgroup `name` and all its children once the last process has left them; rejects when one remains. */
export async function removeCgroups(name: string): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    const top = join(hierarchy, name);
    for (let attempt = 1; existsSync(top); attempt++) {
      try {
        await removeWithChildren(top);
      } catch (error) {
        // A killed process needs a moment to disappear.
        if (attempt === attempts) throw error;
        await new Promise((resolve) => setTimeout(resolve, intervalMs));
      }
    }
  }
}

async function removeWithChildren(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeWithChildren(join(folder, entry.name));
  }
  await rmdir(folder);
}

async function hierarchies(): Promise<string[]> {
  if (!existsSync(mounted)) return [];
  if (existsSync(join(mounted, 'cgroup.controllers'))) return [mounted];
  const entries = await readdir(mounted, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(mounted, entry.name));
}
