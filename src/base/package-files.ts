import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from './user-error.ts';

/** Files of the package are not where they belong. */
export class InstallationError extends UserError {
  override readonly name = 'InstallationError';

  constructor(start: string) {
    super(`tutti is not installed whole: there is no package.json above ${start}. Install it again`);
  }
}

/** A file that came with the package, whether this runs from its sources or from what was built of them. */
export function packageFile(...path: readonly string[]): string {
  return join(packageRoot(), ...path);
}

/** As package.json says. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string };
  return version;
}

function packageRoot(): string {
  const start = dirname(fileURLToPath(import.meta.url));
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) throw new InstallationError(start);
  }
}
