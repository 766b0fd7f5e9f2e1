import { runController } from '../compose/controller.ts';
import { defaultLeaderElection } from '../config/scheduler-configuration.ts';
import type { CommandContext } from './command-context.ts';
import { leaderElectionOf } from './leader-election-flags.ts';
import { controllerLease } from './program.ts';
import type { ControllerFlags } from './program.ts';
import { runServer } from './run-server.ts';

/** Runs the controller until it is interrupted. */
export async function runControllerCommand(flags: ControllerFlags, context: CommandContext): Promise<number> {
  const { workers, maxRepairGrace: maxRepairGraceMs, nativePodGroups, schedulerName } = flags;
  const schedulerNames = nativePodGroups ? schedulerName : [];
  const leaderElection = leaderElectionOf(flags, { ...defaultLeaderElection, resourceName: controllerLease });
  return runServer('controller', flags, context, (parts) =>
    runController({ ...parts, workers, maxRepairGraceMs, schedulerNames, leaderElection }),
  );
}
