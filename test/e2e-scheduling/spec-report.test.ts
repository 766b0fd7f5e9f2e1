import { describe, expect, it } from 'vitest';
import { regressions, selectedSpecs, specResult } from './spec-report.ts';

const containers = ['[sig-scheduling] SchedulerPreemption [Serial]'];
const name = '[sig-scheduling] SchedulerPreemption [Serial] preempts';

function reportOf(...nodes: readonly object[]): string {
  return JSON.stringify([{ SuiteDescription: 'Kubernetes e2e suite', SpecReports: nodes }]);
}

function spec(leaf: string, state: string, rest: object = {}): object {
  return {
    ContainerHierarchyTexts: containers,
    LeafNodeType: 'It',
    LeafNodeText: leaf,
    State: state,
    RunTime: 0,
    ...rest,
  };
}

describe('selectedSpecs', () => {
  it('returns the names of selected specs, sorted, without filtered specs and nodes of the suite', () => {
    const report = reportOf(
      { ContainerHierarchyTexts: null, LeafNodeType: 'BeforeSuite', LeafNodeText: '', State: 'passed', RunTime: 1 },
      spec('preempts', 'passed'),
      spec('keeps', 'passed'),
      spec('other', 'skipped'),
    );
    expect(selectedSpecs(report)).toEqual([`${containers[0]} keeps`, name]);
  });

  it('returns no name for a suite without specs', () => {
    expect(selectedSpecs(JSON.stringify([{ SpecReports: null }]))).toEqual([]);
  });
});

describe('specResult', () => {
  it('returns state and time of a spec that passed', () => {
    const report = reportOf(spec('other', 'skipped'), spec('preempts', 'passed', { RunTime: 12_500_000_000 }));
    expect(specResult(report, name)).toEqual({ name, state: 'passed', seconds: 12.5, reason: '' });
  });

  it('returns message and location of a failure in one line, without the dump of an object', () => {
    const Failure = {
      Message:
        'Timed out after 120.001s.\n  Expected Pod to be running\nGot instead:\n    <*v1.Pod | 0xc0>:\n      kind: Pod\n',
      Location: { FileName: 'k8s.io/kubernetes@v1.37.1/test/e2e/scheduling/preemption.go', LineNumber: 198 },
    };
    expect(specResult(reportOf(spec('preempts', 'failed', { Failure })), name)).toMatchObject({
      state: 'failed',
      reason: 'Timed out after 120.001s. Expected Pod to be running (preemption.go:198)',
    });
  });

  it.each(['timedout', 'interrupted', 'panicked', 'aborted'])('counts the state %s as failed', (state) => {
    expect(specResult(reportOf(spec('preempts', state)), name)).toMatchObject({ state: 'failed', reason: state });
  });

  it('distinguishes a spec that skips itself from one that was not reached', () => {
    const Failure = { Message: 'At least 2 nodes are required' };
    expect(specResult(reportOf(spec('preempts', 'skipped', { Failure })), name)).toMatchObject({
      state: 'skipped',
      reason: 'At least 2 nodes are required',
    });
    expect(specResult(reportOf(spec('preempts', 'skipped')), name)).toMatchObject({ state: 'failed' });
  });

  it('blames a failed setup of the suite', () => {
    const setup = { LeafNodeType: 'BeforeSuite', LeafNodeText: '', State: 'failed', Failure: { Message: 'no nodes' } };
    expect(specResult(reportOf(setup, spec('preempts', 'skipped')), name)).toMatchObject({
      state: 'failed',
      reason: 'BeforeSuite: no nodes',
    });
  });

  it('counts a spec that the report does not contain as failed', () => {
    expect(specResult(reportOf(), name)).toMatchObject({ state: 'failed', reason: 'the report does not contain it' });
  });
});

describe('regressions', () => {
  it('returns specs that pass in the first list only', () => {
    const expected = ['a', 'b', 'c', 'd'].map((key) => resultOf(key, key === 'd' ? 'failed' : 'passed'));
    const actual = [resultOf('a', 'passed'), resultOf('b', 'failed'), resultOf('d', 'failed')];
    expect(regressions(expected, actual)).toEqual(['b', 'c']);
  });
});

function resultOf(key: string, state: 'passed' | 'failed'): Parameters<typeof regressions>[0][number] {
  return { name: key, state, seconds: 1, reason: '' };
}
