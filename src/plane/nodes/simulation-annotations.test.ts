import { describe, expect, test } from 'vitest';
import { parseDuration } from '../../base/parse-duration.ts';
import { readSimulation, simulationAnnotations, SimulationError } from './simulation-annotations.ts';

describe('parseDuration', () => {
  test.each([
    ['2s', 2_000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['250ms', 250],
    ['0', 0],
    ['0s', 0],
  ])('reads %s as %d ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  test.each(['', '2', '-2s', '2 s', 's', '2sec', '1s x', 'never'])('rejects %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe('readSimulation', () => {
  const names = simulationAnnotations;

  test('rejects an unknown annotation and suggests the closest name', () => {
    const rejected = (name: string): string => {
      try {
        readSimulation({ [name]: '2s' }, false, {});
        return 'accepted';
      } catch (error) {
        return (error as SimulationError).message;
      }
    };
    expect(rejected('sim.tutti.dev/run-durration')).toMatch(
      /^unknown annotation sim.tutti.dev\/run-durration; did you mean sim.tutti.dev\/run-duration\? valid annotations: sim.tutti.dev\/run-duration, /,
    );
    expect(rejected('sim.tutti.dev/zzz')).toMatch(/^unknown annotation sim.tutti.dev\/zzz; valid annotations: /);
    expect(rejected('example.com/run-duration')).toBe('accepted');
  });

  test('uses the defaults for a pod without annotations', () => {
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

  test('prefers the annotations of the pod to the defaults, including "never"', () => {
    const annotations = {
      [names.runDuration]: 'never',
      [names.exitCode]: '3',
      [names.startLatency]: '1s',
      [names.termination]: '2s',
      [names.rendezvous]: '4',
      'other.dev/run-duration': 'ignored',
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
  ])('rejects %s: %j and describes the valid values', (name, value, expected) => {
    const read = (): unknown => readSimulation({ [name]: value }, true, {});
    expect(read).toThrow(SimulationError);
    expect(read).toThrow(`annotation ${name}: "${value}" is not valid; it must be ${expected}`);
  });

  test('rejects a rendezvous for a pod without a group', () => {
    expect(() => readSimulation({ [names.rendezvous]: '2' }, false, {})).toThrow('does not name a group');
  });
});
