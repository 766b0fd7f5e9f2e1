import { isNamespaceName, isObjectName } from '../api/object-name.ts';
import { formatDuration } from '../base/format-duration.ts';
import { parseDuration } from '../base/parse-duration.ts';
import { shortText } from '../plugins/field-path.ts';
import type { ReportDiagnostic } from './configuration-document.ts';
import { fieldOf, filledTextOf } from './raw-value.ts';
import { defaultLeaderElection as defaults } from './scheduler-configuration.ts';
import type { LeaderElectionConfiguration } from './scheduler-configuration.ts';

/** Factor by which the pause between two attempts may exceed the retry period. */
export const retryJitter = 1.2;

/** Reads leaderElection with its defaults, by kube-scheduler's rules. */
export function readLeaderElection(value: unknown, report: ReportDiagnostic): LeaderElectionConfiguration {
  const given = fieldOf(value, 'leaderElect');
  const election: LeaderElectionConfiguration = {
    leaderElect: typeof given === 'boolean' ? given : defaults.leaderElect,
    leaseDurationMs: durationOf(fieldOf(value, 'leaseDuration')) ?? defaults.leaseDurationMs,
    renewDeadlineMs: durationOf(fieldOf(value, 'renewDeadline')) ?? defaults.renewDeadlineMs,
    retryPeriodMs: durationOf(fieldOf(value, 'retryPeriod')) ?? defaults.retryPeriodMs,
    resourceLock: filledTextOf(fieldOf(value, 'resourceLock')) ?? defaults.resourceLock,
    resourceName: filledTextOf(fieldOf(value, 'resourceName')) ?? defaults.resourceName,
    resourceNamespace: filledTextOf(fieldOf(value, 'resourceNamespace')) ?? defaults.resourceNamespace,
  };
  if (!election.leaderElect) return election;
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs, resourceLock } = election;
  const isGiven = (name: string): boolean => fieldOf(value, name) !== undefined;
  const mustExceed = (longer: [string, number], shorter: [string, number], factor = 1): void => {
    if (longer[1] > shorter[1] * factor) return;
    const times = factor === 1 ? '' : `${factor} times `;
    const text = `must be longer than ${times}${shorter[0]} (${formatDuration(shorter[1])}), not ${formatDuration(longer[1])}`;
    report(['leaderElection', longer[0]], text, ['leaderElection', isGiven(longer[0]) ? longer[0] : shorter[0]]);
  };
  mustExceed(['leaseDuration', leaseDurationMs], ['renewDeadline', renewDeadlineMs]);
  mustExceed(['renewDeadline', renewDeadlineMs], ['retryPeriod', retryPeriodMs], retryJitter);
  if (resourceLock !== defaults.resourceLock) {
    report(['leaderElection', 'resourceLock'], `must be ${defaults.resourceLock}, not ${shortText(resourceLock)}`);
  }
  const mustBe = (field: 'resourceName' | 'resourceNamespace', expected: string, isValid: boolean): void => {
    if (!isValid) report(['leaderElection', field], `must be ${expected}, not ${shortText(election[field])}`);
  };
  mustBe('resourceName', 'a valid Kubernetes object name', isObjectName(election.resourceName));
  mustBe('resourceNamespace', 'the name of a namespace', isNamespaceName(election.resourceNamespace));
  return election;
}

/** Parses a duration; as in kube-scheduler, 0 means the default. */
function durationOf(value: unknown): number | undefined {
  const milliseconds = typeof value === 'string' ? parseDuration(value) : undefined;
  return milliseconds === 0 ? undefined : milliseconds;
}
