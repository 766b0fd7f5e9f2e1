import { expect, it } from 'vitest';
import { fuzzClient } from './client-fuzz.ts';

it('a server that does everything wrong makes no call hang, no write twice and no answer reach another caller', async () => {
  const report = await fuzzClient({ requests: 3_000, seed: 1, log: () => undefined });
  expect(report.strange).toEqual([]);
  expect([report.hangs, report.duplicatedWrites, report.mixedUp]).toEqual([0, 0, 0]);
  expect(report.isGood).toBe(true);
  // The server is one that a client can talk to, and one that it cannot.
  expect(report.answered).toBeGreaterThan(1_000);
  expect(Object.keys(report.failed)).toEqual(
    expect.arrayContaining(['ConnectionError', 'TimeoutError', 'MalformedAnswerError', 'ServerError', 'ConflictError']),
  );
});
