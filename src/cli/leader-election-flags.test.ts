import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { defaultLeaderElection } from '../config/scheduler-configuration.ts';
import type { LeaderElectionConfiguration } from '../config/scheduler-configuration.ts';
import { leaderElectionOf, withLeaderElection } from './leader-election-flags.ts';
import type { LeaderElectionFlags } from './leader-election-flags.ts';

/** What a command line comes to, beside this in a file. */
function election(line: string, configured: Partial<LeaderElectionConfiguration> = {}): LeaderElectionConfiguration {
  const command = withLeaderElection(new Command(), 'a-lease')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  command.parse(line.split(' '), { from: 'user' });
  return leaderElectionOf(command.opts<LeaderElectionFlags>(), { ...defaultLeaderElection, ...configured });
}

describe('the flags --leader-elect*', () => {
  it.each([
    ['--leader-elect', true],
    ['--leader-elect=true', true],
    ['--leader-elect true', true],
    ['--leader-elect=false', false],
    ['--leader-elect false', false],
    ['--leader-elect --leader-elect-retry-period=1s', true],
  ])('%s: %s', (line, leaderElect) => {
    expect(election(line, { leaderElect: !leaderElect }).leaderElect).toBe(leaderElect);
  });

  it('go before what the configuration says, which stands for the others', () => {
    const line =
      '--leader-elect-lease-duration=1m30s --leader-elect-resource-name=n --leader-elect-resource-namespace=team-a';
    expect(election(line, { renewDeadlineMs: 20_000, resourceName: 'file' })).toEqual({
      ...defaultLeaderElection,
      leaseDurationMs: 90_000,
      renewDeadlineMs: 20_000,
      resourceName: 'n',
      resourceNamespace: 'team-a',
    });
  });

  it.each([
    ['--leader-elect=yes', 'It must be true or false'],
    ['--leader-elect=', 'It must be true or false'],
    ['--leader-elect=no', 'It must be true or false'],
    ['--leader-elect-lease-duration=15', 'a duration such as 90s'],
    ['--leader-elect-lease-duration=0s', 'a duration such as 90s'],
    ['--leader-elect-renew-deadline=-1s', 'a duration such as 90s'],
    ['--leader-elect-retry-period=soon', 'a duration such as 90s'],
    ['--leader-elect-resource-lock=endpoints', 'Allowed choices are leases'],
    ['--leader-elect-resource-name=Mine', 'a name as Kubernetes has them'],
    ['--leader-elect-resource-name=a..b', 'a name as Kubernetes has them'],
    [`--leader-elect-resource-name=${'a'.repeat(254)}`, 'a name as Kubernetes has them'],
    ['--leader-elect-resource-namespace=a.b', 'the name of a namespace'],
    [`--leader-elect-resource-namespace=${'a'.repeat(64)}`, 'the name of a namespace'],
    [
      '--leader-elect-lease-duration=10s',
      '--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline, which is 10s, not 10s',
    ],
    [
      '--leader-elect-retry-period=9s',
      '--leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period, which is 9s, not 10s',
    ],
  ])('are rejected: %s', (line, right) => {
    expect(() => election(line)).toThrow(right);
  });

  it('need not go together where nobody is elected', () => {
    expect(election('--leader-elect=false --leader-elect-lease-duration=1s').leaseDurationMs).toBe(1_000);
  });
});
