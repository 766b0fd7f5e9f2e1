import { expect, it } from 'vitest';
import { fuzzClient } from './client-fuzz.ts';

it('a misbehaving server causes no hanging call, no duplicate write and no response to the wrong caller', async () => {
  const report = await fuzzClient({ requests: 3_000, seed: 1, log: () => undefined });
  expect(report.strange).toEqual([]);
  expect([report.hangs, report.duplicatedWrites, report.mixedUp]).toEqual([0, 0, 0]);
  expect(report.isGood).toBe(true);
  // The server sometimes responds properly, and sometimes does not.
  expect(report.answered).toBeGreaterThan(1_000);
  expect(Object.keys(report.failed)).toEqual(
    expect.arrayContaining(['ConnectionError', 'TimeoutError', 'MalformedAnswerError', 'ServerError', 'ConflictError']),
  );
});
