import { describe, expect, it } from 'vitest';
import { validateJobStatus } from './validate-job.ts';

const complete = { conditions: [{ type: 'Complete', status: 'True' }] };

describe('the status of a Job', () => {
  it('keeps a terminal condition', () => {
    const causes = validateJobStatus({ status: { conditions: [] } }, { status: complete });
    expect(causes.map(({ message }) => message)).toEqual([
      'Invalid value: cannot disable the terminal Complete=True condition',
    ]);
    expect(validateJobStatus({ status: complete }, { status: complete })).toEqual([]);
  });

  it('names each index once, in order and below completions', () => {
    for (const completedIndexes of ['0,0', '1-0', '0-3', 'x', '0-1-2', '0-2,0-2', '-1']) {
      const causes = validateJobStatus({ spec: { completions: 3 }, status: { completedIndexes } }, {});
      expect(causes, completedIndexes).toMatchObject([{ field: 'status.completedIndexes' }]);
    }
    expect(validateJobStatus({ spec: { completions: 3 }, status: { completedIndexes: '0,1-2' } }, {})).toEqual([]);
  });
});
