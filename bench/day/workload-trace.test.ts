import { expect, it } from 'vitest';
import { parseTrace } from './workload-trace.ts';

it('reads jobs in order of submission, and skips those that never ran or are too large', () => {
  const trace = [
    '; MaxProcs: 4096',
    '1 100 5 600 128 -1 -1 128 1200 -1 1 1 1 1 1 -1 -1 -1',
    '2 40 5 60 -1 -1 -1 4 -1 -1 1 1 1 1 1 -1 -1 -1',
    '3 50 5 -1 4 -1 -1 4 -1 -1 0 1 1 1 1 -1 -1 -1',
    '4 60 5 60 5000 -1 -1 5000 -1 -1 1 1 1 1 1 -1 -1 -1',
    '',
  ];
  const small = { class: 'small', submittedAt: 0, members: 4, gpus: 1, runtimeMs: 60_000, declaredMs: 60_000 };
  const large = {
    class: 'large',
    submittedAt: 60_000,
    members: 128,
    gpus: 1,
    runtimeMs: 600_000,
    declaredMs: 1_200_000,
  };
  expect(parseTrace(trace.join('\n'))).toEqual({
    jobs: [
      { id: 1, ...small },
      { id: 0, ...large },
    ],
    skipped: 2,
  });
});

it('names the line that is no job', () => {
  expect(() => parseTrace('; comment\n1 2 three\n')).toThrow(
    'line 2: a job must have 18 numbers in the Standard Workload Format (got "1 2 three")',
  );
});
