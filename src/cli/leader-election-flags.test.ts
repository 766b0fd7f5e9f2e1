import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { defaultLeaderElection } from '../config/scheduler-configuration.ts';
import type { LeaderElectionConfiguration } from '../config/scheduler-configuration.ts';
import { leaderElectionOf, withLeaderElection } from './leader-election-flags.ts';
import type { LeaderElectionFlags } from './leader-election-flags.ts';

/** Returns the result of a command line and a configuration file. */
function election(line: string, configured: Partial<LeaderElectionConfiguration> = {}): LeaderElectionConfiguration {
  const command = withLeaderElection(new Command(), 'a-lease')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  command.parse(line.split(' '), { from: 'user' });
  return leaderElectionOf(command.opts<LeaderElectionFlags>(), { ...defaultLeaderElection, ...configured });
}

describe('leaderElectionOf', () => {
  it.each([
    ['--leader-elect', true],
    ['--leader-elect=true', true],
    ['--leader-elect true', true],
    ['--leader-elect=false', false],
    ['--leader-elect false', false],
    ['--leader-elect --leader-elect-retry-period=1s', true],
  ])('parses %s as %s', (line, leaderElect) => {
    expect(election(line, { leaderElect: !leaderElect }).leaderElect).toBe(leaderElect);
  });

  it('lets flags override the configuration, which supplies the other values', () => {
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
    ['--leader-elect-resource-name=Mine', 'a Kubernetes name'],
    ['--leader-elect-resource-name=a..b', 'a Kubernetes name'],
    [`--leader-elect-resource-name=${'a'.repeat(254)}`, 'a Kubernetes name'],
    ['--leader-elect-resource-namespace=a.b', 'a namespace name'],
    [`--leader-elect-resource-namespace=${'a'.repeat(64)}`, 'a namespace name'],
    [
      '--leader-elect-lease-duration=10s',
      '--leader-elect-lease-duration (10s) must be longer than --leader-elect-renew-deadline (10s)',
    ],
    [
      '--leader-elect-retry-period=9s',
      '--leader-elect-renew-deadline (10s) must be longer than 1.2 times --leader-elect-retry-period (9s)',
    ],
  ])('rejects %s', (line, right) => {
    expect(() => election(line)).toThrow(right);
  });

  it('does not compare durations without leader election', () => {
    expect(election('--leader-elect=false --leader-elect-lease-duration=1s').leaseDurationMs).toBe(1_000);
  });
});
