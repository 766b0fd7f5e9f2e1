import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';

/** Returns Debian's packages of the programs that are not on the PATH; `packages` is program -> package. */
export function missingPackages(packages: Readonly<Record<string, string>>): readonly string[] {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const missing = Object.entries(packages).filter(
    ([program]) => !folders.some((folder) => existsSync(join(folder, program))),
  );
  return [...new Set(missing.map(([, name]) => name))];
}
