import { backfillEnds } from './backfill-ends.ts';
import { backfillStarts } from './backfill-starts.ts';
import { backfillStreams } from './backfill-streams.ts';
import { backfillTurns } from './backfill-turns.ts';

/** Reservations with a predicted start. BF8 to BF10 and BF17 are about queues, which Tutti does not have. */
export const backfill = {
  ...backfillStreams,
  ...backfillStarts,
  ...backfillTurns,
  ...backfillEnds,
} as const;
