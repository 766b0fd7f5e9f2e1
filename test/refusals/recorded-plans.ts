/**
 * The plans of a family's seeds 1 to `recordedSeeds`, as a version of the planner made them that knew no strategies. Those for reservations
 * are newer: among nodes with equal scores, those with reservations of others now come last.
 */
export interface RecordedPlans {
  /** Number of gangs that it placed. */
  readonly placed: number;
  /** Hash of the lines `SEED [[MEMBER,NODE],...]` of these gangs, with the members in the order of placement. */
  readonly digest: string;
}

export const recordedSeeds = 300;

/** family -> its plans */
export const recordedPlans: Readonly<Record<string, RecordedPlans>> = {
  'one kind': { placed: 256, digest: 'e7ed87da06a359c6' },
  mixed: { placed: 210, digest: '793ebfcbd5e62ddf' },
  'mixed and tight': { placed: 79, digest: '54af9b7df5c084c3' },
  elastic: { placed: 191, digest: 'f0568dc611ba274b' },
  'elastic and tight': { placed: 58, digest: '8ff7a4c72966d904' },
  'opposite resources': { placed: 73, digest: '0a1bc036893c58d4' },
  'host ports': { placed: 145, digest: 'a08c1f31cc46ed2f' },
  'node selectors': { placed: 134, digest: 'dba3ce421e5869d9' },
  'anti-affinity': { placed: 102, digest: 'e1ef543504e24715' },
  taints: { placed: 163, digest: '4b6e6a5e052d1f86' },
  'bound members': { placed: 207, digest: 'f9401ec493b84eb2' },
  reservations: { placed: 217, digest: 'f8c3258b758de2f2' },
};

/** The same for these families with twice to four times the capacity, if all members must share a zone. */
export const recordedPlansInZones: Readonly<Record<string, RecordedPlans>> = {
  mixed: { placed: 273, digest: '2748628ecf91403d' },
  elastic: { placed: 259, digest: '96bf25e1dee246c7' },
};
