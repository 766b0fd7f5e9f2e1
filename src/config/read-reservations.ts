import { shortText } from '../plugins/field-path.ts';
import type { FieldPath } from '../plugins/field-path.ts';
import type { ReportDiagnostic } from './configuration-document.ts';
import { fieldOf, filledTextOf, wholeNumberOf } from './raw-value.ts';
import { defaultReservations as defaults } from './scheduler-configuration.ts';
import type { ReservationsConfiguration } from './scheduler-configuration.ts';

/** Reads the reservations of a profile with their defaults; undefined if they are off. The schema reports what is wrong with them. */
export function readReservations(
  value: unknown,
  path: FieldPath,
  warn: ReportDiagnostic,
): ReservationsConfiguration | undefined {
  const enabled = fieldOf(value, 'enabled');
  if (enabled !== true) {
    const isGiven = Object.keys(value ?? {}).length > 0;
    if (isGiven && enabled === undefined) warn(path, 'has no effect: set enabled to true to turn reservations on');
    return undefined;
  }
  const milliseconds = (field: string, fallback: number): number =>
    (wholeNumberOf(fieldOf(value, field)) ?? fallback / 1_000) * 1_000;
  const poolLabel = filledTextOf(fieldOf(value, 'poolLabel'));
  return {
    ...(poolLabel !== undefined && { poolLabel }),
    reserveAfterMs: milliseconds('reserveAfterSeconds', defaults.reserveAfterMs),
    drainAfterMs: milliseconds('drainAfterSeconds', defaults.drainAfterMs),
    overrunPenaltyMs: milliseconds('overrunPenaltySeconds', defaults.overrunPenaltyMs),
  };
}

/** Checks that all profiles with reservations name the same pools. */
export function checkPools(
  profiles: readonly { readonly reservations?: ReservationsConfiguration }[],
  report: ReportDiagnostic,
): void {
  const first = profiles.findIndex(({ reservations }) => reservations !== undefined);
  const expected = profiles[first]?.reservations?.poolLabel;
  for (const [index, { reservations }] of profiles.entries()) {
    if (reservations === undefined || reservations.poolLabel === expected) continue;
    report(
      ['profiles', index, 'reservations', 'poolLabel'],
      `must be the same in all profiles with reservations, because they share the nodes: ` +
        `this profile has ${shown(reservations.poolLabel)}, profiles[${first}] has ${shown(expected)}`,
    );
  }
}

function shown(poolLabel: string | undefined): string {
  return poolLabel === undefined ? 'none' : shortText(poolLabel);
}
