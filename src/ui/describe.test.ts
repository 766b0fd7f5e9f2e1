import { describe, expect, it } from 'vitest';
import { amount, durationText, kubectlCommand, stateText, transitionText, whyText } from './describe.ts';
import { group, transition } from '../api/timeline/testing/builders.ts';
import { lane } from './testing/builders.ts';

const counts = { members: 8, planned: 0, bound: 5, minMember: 8, started: false };

describe('The text of a lane', () => {
  it('says the state, since when, how many are bound, and why', () => {
    const red = lane(
      group('red', { waitsFor: 'capacity', counts }),
      transition(0, 'Waiting', { kind: 'Ready' }),
      transition(5_000, 'Waiting', { kind: 'Rejected', waitsFor: 'capacity', reason: 'too little cpu', count: 7 }),
    );
    expect(whyText(red, 0, 65_000)).toBe(
      'ml/red: waiting for capacity for 1m 5s; 5 bound of 8 needed; no nodes found (waits for capacity) ×7: too little cpu',
    );
  });

  it('says what was at an earlier time', () => {
    const red = lane(
      group('red', { state: 'Running', createdAt: 0 }),
      transition(1_000, 'Waiting', { kind: 'Ready', counts: { ...counts, bound: 0 } }),
      transition(9_000, 'Running', { kind: 'Started', counts }),
    );
    expect(whyText(red, 0, 20_000, 4_000)).toBe('ml/red: waiting for 8s; 0 bound of 8 needed; ready');
    expect(whyText(lane(group('red', { createdAt: 500 }), ...red.transitions), 0, 20_000, 100)).toContain(
      'not created yet',
    );
    expect(whyText(red, 900, 20_000, 950)).toContain('no record');
  });

  it('does not call what it does not know a failure', () => {
    expect(stateText(group('red', { state: 'Unknown' }))).toBe('unknown');
    expect(transitionText(transition(0, 'Unknown', { kind: 'Unknown' }))).toBe('unknown change');
  });

  it('names who benefits from a preemption', () => {
    const preempted = transition(0, 'Degraded', { kind: 'Preempted', by: 'gang/ml/red' });
    expect(transitionText(preempted)).toBe('preempted for ml/red');
  });
});

describe('Amounts and durations', () => {
  it.each([
    [0, '0'],
    [0.25, '0.25'],
    [16, '16'],
    [10_000, '10000'],
    [2 ** 30, '1Gi'],
    [1.5 * 2 ** 30, '1.5Gi'],
    [2 ** 50, '1024Ti'],
  ])('shows %d as %s', (value, text) => {
    expect(amount(value)).toBe(text);
  });

  it('shows durations in their two largest units', () => {
    expect([0, 59_999, 65_000, 3_900_000, -5].map(durationText)).toEqual(['0s', '59s', '1m 5s', '1h 5m', '0s']);
  });
});

describe('The kubectl command', () => {
  it('names the object as tutti why does', () => {
    const { subject } = group('red');
    expect(kubectlCommand(subject)).toBe('kubectl tutti why --namespace ml group/red');
    expect(kubectlCommand({ ...subject, source: 'scheduling.k8s.io' })).toContain(' podgroup.scheduling.k8s.io/red');
    expect(kubectlCommand({ kind: 'Pod', namespace: 'ml', name: 'red-0' })).toContain(' pod/red-0');
  });

  it('quotes what a shell would run', () => {
    const subject = { kind: 'Pod', namespace: 'a b', name: "x';reboot" } as const;
    expect(kubectlCommand(subject)).toBe(`kubectl tutti why --namespace 'a b' 'pod/x'\\'';reboot'`);
  });
});
