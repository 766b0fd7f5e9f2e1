import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from './user-error.ts';

/** Files of the package are missing. */
export class InstallationError extends UserError {
  override readonly name = 'InstallationError';

  constructor(start: string) {
    super(`the tutti installation is incomplete: there is no package.json above ${start}. Reinstall tutti`);
  }
}

/** Returns the path of a file of the package, for code that runs from sources or from the build. */
export function packageFile(...path: readonly string[]): string {
  return join(packageRoot(), ...path);
}

/** Returns the version in package.json. */
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
