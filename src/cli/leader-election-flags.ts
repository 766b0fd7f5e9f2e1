import { Option } from 'commander';
import type { Command } from 'commander';
import { formatDuration } from '../base/format-duration.ts';
import { UserError } from '../base/user-error.ts';
import { retryJitter } from '../config/read-leader-election.ts';
import type { LeaderElectionConfiguration } from '../config/scheduler-configuration.ts';
import { duration, namespaceName, objectName, truth } from './flag-values.ts';

/** The --leader-elect* flags that the user set. Durations are in milliseconds. */
export interface LeaderElectionFlags {
  readonly leaderElect?: boolean;
  readonly leaderElectLeaseDuration?: number;
  readonly leaderElectRenewDeadline?: number;
  readonly leaderElectRetryPeriod?: number;
  readonly leaderElectResourceLock?: string;
  readonly leaderElectResourceName?: string;
  readonly leaderElectResourceNamespace?: string;
}

/** The leader election flags conflict with each other or with the configuration. */
export class LeaderElectionFlagsError extends UserError {
  override readonly name = 'LeaderElectionFlagsError';
}

/** Adds kube-scheduler's leader election flags. `lease` describes the default name of the Lease. */
export function withLeaderElection(command: Command, lease: string): Command {
  return command
    .addOption(
      new Option(
        '--leader-elect [true|false]',
        'Enable leader election, so that one of several replicas works and the others stand by. (default: true)',
      )
        .argParser(truth)
        .preset('true'),
    )
    .addOption(
      new Option(
        '--leader-elect-lease-duration <duration>',
        'How long a standby waits after the last renewal by the leader before it takes the Lease. (default: 15s)',
      ).argParser(duration),
    )
    .addOption(
      new Option(
        '--leader-elect-renew-deadline <duration>',
        'How long the leader keeps working when it cannot renew the Lease. Must be shorter than the lease duration. (default: 10s)',
      ).argParser(duration),
    )
    .addOption(
      new Option(
        '--leader-elect-retry-period <duration>',
        'Time between two attempts to acquire or renew the Lease. Must be shorter than the renew deadline. (default: 2s)',
      ).argParser(duration),
    )
    .addOption(
      new Option('--leader-elect-resource-lock <kind>', 'Kind of object to lock. (default: leases)').choices([
        'leases',
      ]),
    )
    .addOption(
      new Option('--leader-elect-resource-name <name>', `Name of the Lease. (default: ${lease})`).argParser(objectName),
    )
    .addOption(
      new Option(
        '--leader-elect-resource-namespace <name>',
        'Namespace of the Lease. (default: kube-system)',
      ).argParser(namespaceName),
    );
}

/** Merges flags and configuration. The flags win, as in kube-scheduler. Throws LeaderElectionFlagsError. */
export function leaderElectionOf(
  flags: LeaderElectionFlags,
  configured: LeaderElectionConfiguration,
): LeaderElectionConfiguration {
  const election = {
    leaderElect: flags.leaderElect ?? configured.leaderElect,
    leaseDurationMs: flags.leaderElectLeaseDuration ?? configured.leaseDurationMs,
    renewDeadlineMs: flags.leaderElectRenewDeadline ?? configured.renewDeadlineMs,
    retryPeriodMs: flags.leaderElectRetryPeriod ?? configured.retryPeriodMs,
    resourceLock: flags.leaderElectResourceLock ?? configured.resourceLock,
    resourceName: flags.leaderElectResourceName ?? configured.resourceName,
    resourceNamespace: flags.leaderElectResourceNamespace ?? configured.resourceNamespace,
  };
  if (!election.leaderElect) return election;
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = election;
  mustExceed(['--leader-elect-lease-duration', leaseDurationMs], ['--leader-elect-renew-deadline', renewDeadlineMs]);
  const retry = ['--leader-elect-retry-period', retryPeriodMs] as const;
  mustExceed(['--leader-elect-renew-deadline', renewDeadlineMs], retry, retryJitter);
  return election;
}

function mustExceed(
  [longer, longerMs]: readonly [string, number],
  [shorter, shorterMs]: readonly [string, number],
  factor = 1,
): void {
  if (longerMs > shorterMs * factor) return;
  const times = factor === 1 ? '' : `${factor} times `;
  throw new LeaderElectionFlagsError(
    `${longer} (${formatDuration(longerMs)}) must be longer than ${times}${shorter} (${formatDuration(shorterMs)})`,
  );
}
