import { describe, expect, it } from 'vitest';
import { CoschedulingArgsError, readCoschedulingArgs } from './coscheduling-args.ts';

const args = (permit: number, backoff: number, percentage: number): object => ({
  permitWaitingTimeSeconds: permit,
  podGroupBackoffSeconds: backoff,
  podGroupRejectPercentage: percentage,
});

describe('the arguments of Coscheduling', () => {
  it.each([[{}], [undefined], [null]])('default to 60, 0 and 10 (given %j)', (given) => {
    expect(readCoschedulingArgs(given)).toEqual(args(60, 0, 10));
  });

  it('are kept as given', () => {
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
    [{ permitWaitingTimeSeconds: -10 }, 'args.permitWaitingTimeSeconds must be >= 0'],
    [{ podGroupBackoffSeconds: -20 }, 'args.podGroupBackoffSeconds must be >= 0'],
    [{ podGroupRejectPercentage: -1 }, 'args.podGroupRejectPercentage must be >= 0'],
    [{ podGroupRejectPercentage: 150 }, 'args.podGroupRejectPercentage must be <= 100'],
    [{ permitWaitingTimeSeconds: 1.5 }, 'args.permitWaitingTimeSeconds must be integer'],
    [{ permitWaitingTimeSeconds: '30' }, 'args.permitWaitingTimeSeconds must be integer'],
    [[], 'args must be object'],
    [{ kubeConfigPath: '/x' }, 'args: unknown field "kubeConfigPath"'],
  ])('refuse %j', (given, problem) => {
    expect(() => readCoschedulingArgs(given)).toThrow(new CoschedulingArgsError(`Coscheduling: ${problem}`));
  });

  it('are told everything that is wrong with them at once', () => {
    expect(() => readCoschedulingArgs({ permitWaitingTimeSeconds: -30, podGroupBackoffSeconds: -20 })).toThrow(
      'Coscheduling: args.permitWaitingTimeSeconds must be >= 0; args.podGroupBackoffSeconds must be >= 0',
    );
  });
});
