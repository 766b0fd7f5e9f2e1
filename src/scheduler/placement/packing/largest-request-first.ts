import { greedyPacking } from './greedy-packing.ts';
import { totalShare } from './packing-problem.ts';

/** Places first what takes most of all resources together. */
export const largestRequestFirst = greedyPacking('LargestRequestFirst', totalShare);
