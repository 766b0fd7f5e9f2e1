import process from 'node:process';
import type { BinaryName } from './binaries.ts';
import { provideBinaries } from './build.ts';
import type { Provision } from './build.ts';

/**
 * The programs for suites that run on a real plane, or why these skip; then standard error says so in one loud line. The
 * variable TUTTI_REAL_PLANE decides: `build` builds what is not in the cache (CI does), `off` never runs them, and
 * unset runs them when the programs are in the cache already, so that nobody waits minutes for a build unasked.
 *
 * Call it at the top of the test file and pass the answer to `describe.skipIf`: skipped tests are counted as skipped.
 */
export async function provideForSuite<Name extends BinaryName>(
  suite: string,
  names: readonly Name[],
): Promise<Provision<Name>> {
  return sayIfMissing(suite, await provide(names));
}

/** The one loud line of a suite that skips. */
export function sayIfMissing<Name extends BinaryName>(suite: string, provision: Provision<Name>): Provision<Name> {
  if (provision.state === 'missing') {
    process.stderr.write(`\n!!! SKIPPED on a real API server: ${suite}: ${provision.message}\n\n`);
  }
  return provision;
}

async function provide<Name extends BinaryName>(names: readonly Name[]): Promise<Provision<Name>> {
  const wish = process.env.TUTTI_REAL_PLANE ?? '';
  switch (wish) {
    case 'off':
      return { state: 'missing', reason: 'turned-off', message: 'TUTTI_REAL_PLANE=off' };
    case 'build':
    case '':
      return provideBinaries(names, { mayBuild: wish === 'build' });
    default:
      throw new Error(`TUTTI_REAL_PLANE is ${JSON.stringify(wish)}; expected build, off or nothing`);
  }
}
