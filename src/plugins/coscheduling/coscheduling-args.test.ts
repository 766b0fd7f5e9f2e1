import { describe, expect, it } from 'vitest';
import { readCoschedulingArgs } from './coscheduling-args.ts';

const args = (permit: number, backoff: number, percentage: number): object => ({
  permitWaitingTimeSeconds: permit,
  podGroupBackoffSeconds: backoff,
  podGroupRejectPercentage: percentage,
});

describe('the arguments of Coscheduling', () => {
  it.each([[{}], [undefined], [null]])('default to 60, 0 and 10 (given %j)', (given) => {
    expect(readCoschedulingArgs(given)).toEqual(args(60, 0, 10));
  });

  it('keep the given values', () => {
    expect(readCoschedulingArgs(args(60, 20, 50))).toEqual(args(60, 20, 50));
    expect(readCoschedulingArgs({ podGroupBackoffSeconds: 5 })).toEqual(args(60, 5, 10));
  });

  it('may carry apiVersion and kind, as every plugin configuration may', () => {
    const given = { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'CoschedulingArgs', ...args(1, 2, 3) };
    expect(readCoschedulingArgs(given)).toEqual(args(1, 2, 3));
  });

  it.each([
    [30, 60, 10],
    [30, 0, 0],
    [30, 0, 100],
  ])('accept %i / %i / %i', (...given) => {
    expect(readCoschedulingArgs(args(...given))).toEqual(args(...given));
  });

  it.each([
    [{ permitWaitingTimeSeconds: -10 }, 'permitWaitingTimeSeconds must be a whole number of at least 0, not -10'],
    [{ podGroupBackoffSeconds: -20 }, 'podGroupBackoffSeconds must be a whole number of at least 0, not -20'],
    [{ podGroupRejectPercentage: -1 }, 'podGroupRejectPercentage must be a whole number from 0 to 100, not -1'],
    [{ podGroupRejectPercentage: 150 }, 'podGroupRejectPercentage must be a whole number from 0 to 100, not 150'],
    [{ permitWaitingTimeSeconds: 1.5 }, 'permitWaitingTimeSeconds must be a whole number of at least 0, not 1.5'],
    [{ permitWaitingTimeSeconds: '30' }, 'permitWaitingTimeSeconds must be a whole number of at least 0, not "30"'],
    [[], 'must be an object, not an empty list'],
    [{ kind: 'NodeAffinityArgs' }, 'kind must be CoschedulingArgs, not "NodeAffinityArgs"'],
    [
      { kubeConfigPath: '/x' },
      'kubeConfigPath is not a known field; ' +
        'the fields are permitWaitingTimeSeconds, podGroupBackoffSeconds, podGroupRejectPercentage',
    ],
  ])('reject %j', (given, problem) => {
    expect(() => readCoschedulingArgs(given)).toThrow(
      expect.objectContaining({ name: 'PluginArgumentsError', message: `arguments of Coscheduling: ${problem}` }),
    );
  });

  it('report all problems at once', () => {
    expect(() => readCoschedulingArgs({ permitWaitingTimeSeconds: -30, podGroupBackoffSeconds: -20 })).toThrow(
      [
        'arguments of Coscheduling:',
        '  permitWaitingTimeSeconds must be a whole number of at least 0, not -30',
        '  podGroupBackoffSeconds must be a whole number of at least 0, not -20',
      ].join('\n'),
    );
  });
});
