import type { ConnectionFlags, SchedulerLookupFlags } from '../cluster-flags.ts';
import type { CommandContext } from '../command-context.ts';
import { exitCodes } from '../exit-codes.ts';
import type { LeaderFlags } from '../explain/leader/leader-flags.ts';
import { withCluster } from '../explain/with-cluster.ts';
import { leaderEndpointsOf } from './leader-endpoints-of.ts';
import { loadPage } from './load-page.ts';
import { startPage } from './start-page.ts';

/** The flags of `tutti ui`. */
export interface UiFlags extends ConnectionFlags, SchedulerLookupFlags, LeaderFlags {
  /** 0 selects a free port. */
  readonly port: number;
}

/**
 * Serves the timeline page until the user interrupts the command. Resolves to 0. Rejects before it serves anything if the scheduler that leads cannot be
 * found.
 */
export async function runUi(flags: UiFlags, context: CommandContext): Promise<number> {
  const { interruption, stdout } = context;
  interruption.completesCommand();
  return withCluster(flags, context, async (cluster) => {
    const endpoints = leaderEndpointsOf(cluster, flags, context);
    await endpoints.find();
    const files = await loadPage();
    const page = await startPage({ files: async () => files, port: flags.port, endpoints });
    try {
      stdout.write(`Open ${page.link}\nThe link works once, in one browser. Press Ctrl-C to stop.\n`);
      await interruption.requested();
      return exitCodes.ok;
    } finally {
      await page.close();
    }
  });
}
