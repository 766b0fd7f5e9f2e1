import process from 'node:process';
import type { BinaryName } from './binaries.ts';
import { provideBinaries } from './build.ts';
import type { Provision } from './build.ts';

/**
 * Returns the programs for suites that run on a real plane, or why they are skipped, which it also prints to standard error in one
 * prominent line. The variable TUTTI_REAL_PLANE decides. `build` builds what is not in the cache, as CI does. `off` never runs these
 * suites. If unset, they run only when the cache has the programs, so that no developer waits minutes for an unexpected build.
 *
 * Call it at the top of the test file and pass the result to `describe.skipIf`, so that the report counts skipped tests.
 */
export async function provideForSuite<Name extends BinaryName>(
  suite: string,
  names: readonly Name[],
): Promise<Provision<Name>> {
  return warnIfMissing(suite, await provide(names));
}

/** Prints the prominent line of a skipped suite. */
export function warnIfMissing<Name extends BinaryName>(suite: string, provision: Provision<Name>): Provision<Name> {
  if (provision.state === 'missing') {
    process.stderr.write(`\n!!! SKIPPED on a real API server: ${suite}: ${provision.message}\n\n`);
  }
  return provision;
}

async function provide<Name extends BinaryName>(names: readonly Name[]): Promise<Provision<Name>> {
  const setting = process.env.TUTTI_REAL_PLANE ?? '';
  switch (setting) {
    case 'off':
      return { state: 'missing', reason: 'turned-off', message: 'TUTTI_REAL_PLANE=off' };
    case 'build':
    case '':
      return provideBinaries(names, { mayBuild: setting === 'build' });
    default:
      throw new Error(`TUTTI_REAL_PLANE is ${JSON.stringify(setting)}; must be build, off or unset`);
  }
}
