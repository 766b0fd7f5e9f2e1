import { describe, expect, it } from 'vitest';
import { predictedStartCondition, predictedStartOf, startTimeOf } from './predicted-start.ts';
import type { PredictedStart } from './verdict.ts';

const noon = Date.UTC(2026, 0, 1, 12);

function read(reason: string, message: string, more: object = {}): PredictedStart | undefined {
  const scheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '2026-01-01T00:00:00Z' };
  return predictedStartOf([scheduled, { type: predictedStartCondition, status: 'True', reason, message, ...more }]);
}

describe('the predicted start of a pod', () => {
  it.each<PredictedStart>([
    { at: noon, confidence: 'Declared' },
    { at: noon, confidence: 'Estimated' },
    { at: noon, confidence: 'Draining' },
    { confidence: 'Draining' },
  ])('is read as it was written: %j', (start) => {
    expect(read(start.confidence, startTimeOf(start))).toEqual(start);
  });

  it('is absent without the condition', () => {
    expect(predictedStartOf(undefined)).toBeUndefined();
    expect(predictedStartOf([])).toBeUndefined();
  });

  it.each([
    ['no time', 'Declared', ''],
    ['no date', 'Declared', 'soon'],
    ['a day that does not exist', 'Declared', '2026-02-30T12:00:00Z'],
    ['another form', 'Declared', '2026-01-01T12:00:00.000Z'],
    ['another time zone', 'Declared', '2026-01-01T12:00:00+01:00'],
    ['a number', 'Declared', '1'],
    ['a year that RFC 3339 does not have', 'Declared', '+010000-01-01T00:00:00Z'],
    ['long text', 'Declared', `2026-01-01T12:00:00Z${' '.repeat(200_000)}`],
    ['an unknown confidence', 'Certain', '2026-01-01T12:00:00Z'],
    ['no confidence', '', '2026-01-01T12:00:00Z'],
  ])('is absent with %s', (_what, reason, message) => {
    expect(read(reason, message)).toBeUndefined();
  });

  it('is absent while the condition is not True', () => {
    expect(read('Declared', '2026-01-01T12:00:00Z', { status: 'False' })).toBeUndefined();
  });
});
