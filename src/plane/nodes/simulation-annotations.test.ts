import { describe, expect, test } from 'vitest';
import { parseDuration } from '../../base/parse-duration.ts';
import { readSimulation, simulationAnnotations, SimulationError } from './simulation-annotations.ts';

describe('durations', () => {
  test.each([
    ['2s', 2_000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['250ms', 250],
    ['0', 0],
    ['0s', 0],
  ])('%s is %d ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  test.each(['', '2', '-2s', '2 s', 's', '2sec', '1s x', 'never'])('%j is none', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe('annotations of a pod', () => {
  const names = simulationAnnotations;

  test('one that is not known is rejected, with the one that was meant', () => {
    const rejected = (name: string): string => {
      try {
        readSimulation({ [name]: '2s' }, false, {});
        return 'taken';
      } catch (error) {
        return (error as SimulationError).message;
      }
    };
    expect(rejected('sim.tutti.dev/run-durration')).toMatch(
      /^annotation sim.tutti.dev\/run-durration is not known; did you mean sim.tutti.dev\/run-duration\? there are sim.tutti.dev\/run-duration, /,
    );
    expect(rejected('sim.tutti.dev/zzz')).toMatch(/^annotation sim.tutti.dev\/zzz is not known; there are /);
    expect(rejected('example.com/run-duration')).toBe('taken');
  });

  test('a pod without any is played by the defaults', () => {
    expect(readSimulation({}, false, {})).toEqual({
      runDurationMs: undefined,
      exitCode: 0,
      startLatencyMs: 100,
      terminationMs: 100,
      rendezvous: undefined,
    });
    expect(readSimulation({}, false, { runDurationMs: 5, startLatencyMs: 6, terminationMs: 7 })).toMatchObject({
      runDurationMs: 5,
      startLatencyMs: 6,
      terminationMs: 7,
    });
  });

  test('what the pod says wins, "never" too', () => {
    const annotations = {
      [names.runDuration]: 'never',
      [names.exitCode]: '3',
      [names.startLatency]: '1s',
      [names.termination]: '2s',
      [names.rendezvous]: '4',
      'other.dev/run-duration': 'whatever',
    };
    expect(readSimulation(annotations, true, { runDurationMs: 5 })).toEqual({
      runDurationMs: undefined,
      exitCode: 3,
      startLatencyMs: 1_000,
      terminationMs: 2_000,
      rendezvous: 4,
    });
    expect(readSimulation({ [names.rendezvous]: 'minMember' }, true, {}).rendezvous).toBe('minMember');
  });

  test.each([
    [names.runDuration, 'soon', 'a duration such as "2s" or "1m30s", or "never"'],
    [names.startLatency, '1', 'a duration such as "2s" or "1m30s"'],
    [names.exitCode, '256', 'a whole number from "0" to "255"'],
    [names.rendezvous, '0', 'a number of members of at least "1", or "minMember"'],
  ])('%s: %j is rejected with what would be right', (name, value, expected) => {
    const read = (): unknown => readSimulation({ [name]: value }, true, {});
    expect(read).toThrow(SimulationError);
    expect(read).toThrow(`annotation ${name}: "${value}" is not valid; it must be ${expected}`);
  });

  test('a pod of no group cannot meet one', () => {
    expect(() => readSimulation({ [names.rendezvous]: '2' }, false, {})).toThrow('names no group to meet');
  });
});
