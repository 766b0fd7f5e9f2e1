import { Command, CommanderError } from 'commander';
import { expect, it } from 'vitest';
import { defaultLeaderElection } from '../config/scheduler-configuration.ts';
import { leaderElectionOf, withLeaderElection } from './leader-election-flags.ts';
import type { LeaderElectionFlags } from './leader-election-flags.ts';

/** The flags of a command line, or what is said against it. */
function parse(...line: string[]): LeaderElectionFlags | string {
  let said = '';
  const command = withLeaderElection(new Command('test'), 'a-lease').exitOverride();
  command.configureOutput({ writeErr: (text) => (said += text) });
  try {
    return command.parse(line, { from: 'user' }).opts();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return said;
  }
}

function electionOf(...line: string[]): ReturnType<typeof leaderElectionOf> {
  const flags = parse(...line);
  if (typeof flags === 'string') throw new Error(flags);
  return leaderElectionOf(flags, defaultLeaderElection);
}

it('leaves alone what is not given', () => {
  expect(electionOf()).toEqual(defaultLeaderElection);
});

it('reads the flags as kube-scheduler does', () => {
  expect(
    electionOf(
      '--leader-elect',
      '--leader-elect-lease-duration=1m',
      '--leader-elect-renew-deadline=40s',
      '--leader-elect-retry-period=500ms',
      '--leader-elect-resource-lock=leases',
      '--leader-elect-resource-name=mine',
      '--leader-elect-resource-namespace=here',
    ),
  ).toEqual({
    leaderElect: true,
    leaseDurationMs: 60_000,
    renewDeadlineMs: 40_000,
    retryPeriodMs: 500,
    resourceLock: 'leases',
    resourceName: 'mine',
    resourceNamespace: 'here',
  });
});

it.each(['--leader-elect=false', '--leader-elect=true', '--leader-elect'])('takes %s', (flag) => {
  expect(electionOf(flag).leaderElect).toBe(flag !== '--leader-elect=false');
});

it.each([
  [['--leader-elect=maybe'], 'It must be true or false.'],
  [['--leader-elect-lease-duration=15'], 'It must be a duration such as 90s, 1m30s or 2m.'],
  [['--leader-elect-resource-lock=endpoints'], 'Allowed choices are leases.'],
  [['--leader-elect-resource-name=../pods'], 'It must be a name as Kubernetes has them'],
  [['--leader-elect-resource-namespace='], 'It must be a name as Kubernetes has them'],
])('refuses %j', (line, said) => {
  expect(parse(...line)).toContain(said);
});

it.each([
  [
    ['--leader-elect-lease-duration=5s'],
    '--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline, which is 10s, not 5s',
  ],
  [
    ['--leader-elect-retry-period=9s'],
    '--leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period, which is 9s, not 10s',
  ],
])('refuses times that do not go together: %j', (line, said) => {
  expect(() => electionOf(...line)).toThrow(said);
  expect(electionOf(...line, '--leader-elect=false').leaderElect).toBe(false);
});
