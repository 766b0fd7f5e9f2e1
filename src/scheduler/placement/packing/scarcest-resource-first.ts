import { greedyPacking } from './greedy-packing.ts';
import { scarcestShare } from './packing-problem.ts';

/** Places first what takes most of a scarce resource. */
export const scarcestResourceFirst = greedyPacking('ScarcestResourceFirst', scarcestShare);
