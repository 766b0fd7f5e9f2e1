import { Option } from 'commander';
import type { Command } from 'commander';
import { formatDuration } from '../base/format-duration.ts';
import { UserError } from '../base/user-error.ts';
import { retryJitter } from '../config/read-leader-election.ts';
import type { LeaderElectionConfiguration } from '../config/scheduler-configuration.ts';
import { duration, namespaceName, objectName, truth } from './flag-values.ts';

/** The flags --leader-elect*, as far as they were given. Durations in milliseconds. */
export interface LeaderElectionFlags {
  readonly leaderElect?: boolean;
  readonly leaderElectLeaseDuration?: number;
  readonly leaderElectRenewDeadline?: number;
  readonly leaderElectRetryPeriod?: number;
  readonly leaderElectResourceLock?: string;
  readonly leaderElectResourceName?: string;
  readonly leaderElectResourceNamespace?: string;
}

/** The flags do not go together, or not with what the configuration says. */
export class LeaderElectionFlagsError extends UserError {
  override readonly name = 'LeaderElectionFlagsError';
}

/** Adds the flags that kube-scheduler has for it. `lease`: of what name, when nothing else is said. */
export function withLeaderElection(command: Command, lease: string): Command {
  return command
    .addOption(
      new Option(
        '--leader-elect [true|false]',
        'let one of several such processes work, and the others stand by (default: true)',
      )
        .argParser(truth)
        .preset('true'),
    )
    .addOption(
      new Option(
        '--leader-elect-lease-duration <duration>',
        'how long the others wait when the leader is silent (default: 15s)',
      ).argParser(duration),
    )
    .addOption(
      new Option(
        '--leader-elect-renew-deadline <duration>',
        'how long the leader goes on when it cannot renew its Lease; shorter than the lease duration (default: 10s)',
      ).argParser(duration),
    )
    .addOption(
      new Option(
        '--leader-elect-retry-period <duration>',
        'time between two attempts to take or renew the Lease; shorter than the renew deadline (default: 2s)',
      ).argParser(duration),
    )
    .addOption(new Option('--leader-elect-resource-lock <kind>', 'what is held (default: leases)').choices(['leases']))
    .addOption(
      new Option('--leader-elect-resource-name <name>', `name of the Lease (default: ${lease})`).argParser(objectName),
    )
    .addOption(
      new Option('--leader-elect-resource-namespace <name>', 'namespace of the Lease (default: kube-system)').argParser(
        namespaceName,
      ),
    );
}

/** What the flags say goes before what `configured` says, as in kube-scheduler. Throws LeaderElectionFlagsError. */
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
    `${longer} must be longer than ${times}${shorter}, which is ${formatDuration(shorterMs)}, not ${formatDuration(longerMs)}`,
  );
}
