/** A series and its values, one per minute, in promtool's notation: `0x60` is 61 times 0, `0+1x60` grows. */
export interface InputSeries {
  readonly series: string;
  readonly values: string;
}

/** A situation, and the alerts that fire in it. */
export interface AlertCase {
  readonly title: string;
  readonly series: readonly InputSeries[];
  /** alert -> minutes at which it fires; all other alerts never do */
  readonly fires: Readonly<Record<string, readonly number[]>>;
  /** alert -> minutes at which it does not fire yet, or no longer */
  readonly silent?: Readonly<Record<string, readonly number[]>>;
}

export const selectors = {
  SCHEDULER: 'job="tutti-scheduler",namespace="tutti-system"',
  CONTROLLER: 'job="tutti-controller",namespace="tutti-system"',
} as const;

/** Duration of a case in minutes. */
export const lastsMinutes = 8 * 60;

function of(
  metric: string,
  values: string,
  labels: string,
  process: keyof typeof selectors = 'SCHEDULER',
): InputSeries {
  const [name, own = ''] = metric.split(/[{}]/);
  const all = [selectors[process], labels, own].filter((part) => part !== '').join(',');
  return { series: `${name}{${all}}`, values };
}

const scheduler = (metric: string, values: string, pod = 'a'): InputSeries => of(metric, values, `pod="${pod}"`);

const always = (value: number): string => `${value}x${lastsMinutes}`;

/** Returns a histogram with ten observations per minute, all at most the first bound. */
function quick(name: string, bounds: readonly number[]): InputSeries[] {
  return [...bounds, '+Inf'].map((le) => scheduler(`${name}_bucket{le="${le}"}`, `0+10x${lastsMinutes}`));
}

const bounds = { algorithm: [0.001, 8.192, 16.384], verdict: [0.001, 2.048] };

/** Returns the series of a healthy leader and a healthy controller. */
function healthy(): InputSeries[] {
  return [
    scheduler('up', always(1)),
    of('up', always(1), 'pod="c"', 'CONTROLLER'),
    scheduler('leader_election_master_status{name="tutti-scheduler"}', always(1)),
    scheduler('tutti_podgroups_partial', always(0)),
    ...['nodes', 'pods', 'podgroups'].map((resource) =>
      scheduler(`tutti_picture_age_seconds{resource="${resource}"}`, '20+20x2 0+20x2 10x470'),
    ),
    // Groups may wait for less than a day.
    scheduler('tutti_oldest_waiting_seconds{waits_for="capacity"}', `3600+60x${lastsMinutes}`),
    scheduler('tutti_oldest_waiting_seconds{waits_for="turn"}', always(2)),
    scheduler('tutti_podgroups_waiting{waits_for="capacity"}', always(100)),
    scheduler('tutti_podgroups_waiting{waits_for="never"}', always(0)),
    ...quick('scheduler_scheduling_algorithm_duration_seconds', bounds.algorithm),
    ...quick('tutti_verdict_delay_seconds', bounds.verdict),
    scheduler('scheduler_podgroup_schedule_attempts_total{result="scheduled"}', `0+60x${lastsMinutes}`),
    scheduler('scheduler_podgroup_schedule_attempts_total{result="unschedulable"}', `0+30x${lastsMinutes}`),
    scheduler('scheduler_podgroup_schedule_attempts_total{result="error"}', always(0)),
    scheduler('tutti_oldest_claim_seconds{kind="nomination"}', '0x100 0+60x9 0x369'),
    scheduler('tutti_oldest_claim_seconds{kind="repair"}', always(0)),
    scheduler('tutti_repairs_total{outcome="completed"}', '0x100 3x379'),
    scheduler('tutti_repairs_total{outcome="lost"}', always(0)),
    scheduler('scheduler_pod_scheduled_after_flush_total', always(0)),
    scheduler('tutti_crd_compatible{crd="podgroups.scheduling.x-k8s.io"}', always(1)),
  ];
}

/** Returns the healthy series with these changes, or without the given series. */
function healthyExcept(...changes: readonly (InputSeries | { readonly without: string })[]): InputSeries[] {
  const gone = changes.flatMap((change) => ('without' in change ? [change.without] : []));
  const changed = changes.filter((change) => 'series' in change);
  const names = new Set(changed.map(({ series }) => series));
  return [
    ...healthy().filter(({ series }) => !names.has(series) && !gone.some((part) => series.includes(part))),
    ...changed,
  ];
}

const fault = (metric: string, values: string): InputSeries[] => healthyExcept(scheduler(metric, values));

export const alertCases: readonly AlertCase[] = [
  { title: 'a quiet day', series: healthy(), fires: {} },
  {
    title: 'a restart: counters are reset, and no process responds for two minutes',
    series: healthyExcept(
      scheduler('up', '1x200 0x2 1x277'),
      scheduler('leader_election_master_status{name="tutti-scheduler"}', '1x200 _x2 1x277'),
      scheduler('tutti_repairs_total{outcome="lost"}', '0x200 _x2 0x277'),
      scheduler('scheduler_pod_scheduled_after_flush_total', '0x200 _x2 0x277'),
      scheduler('scheduler_podgroup_schedule_attempts_total{result="scheduled"}', '0+60x200 _x2 0+60x277'),
    ),
    fires: {},
  },
  {
    title: 'a roll-out of three replicas, one after the other',
    series: healthyExcept(
      scheduler('up', '1x60 _x419', 'a'),
      scheduler('leader_election_master_status{name="tutti-scheduler"}', '1x60 _x419', 'a'),
      ...['b', 'd', 'e'].map((pod, i) => scheduler('up', `_x${58 + i} 1x${420 - i}`, pod)),
      ...['b', 'd', 'e'].map((pod, i) =>
        scheduler(
          'leader_election_master_status{name="tutti-scheduler"}',
          i === 0 ? '_x58 0x3 1x417' : `_x${58 + i} 0x${420 - i}`,
          pod,
        ),
      ),
    ),
    fires: {},
  },
  {
    title: 'a leader change: no scheduler leads for a minute',
    series: healthyExcept(
      scheduler('leader_election_master_status{name="tutti-scheduler"}', '1x60 0x419', 'a'),
      scheduler('leader_election_master_status{name="tutti-scheduler"}', '0x61 1x418', 'b'),
    ),
    fires: {},
  },
  {
    title: 'a repeated Binding: a group is partially bound for a minute',
    series: fault('tutti_podgroups_partial', '0x60 1 0x419'),
    fires: {},
  },
  {
    title: 'no scheduler responds',
    series: healthyExcept({ without: 'tutti-scheduler' }),
    fires: { TuttiDown: [11, 400] },
    silent: { TuttiDown: [8] },
  },
  { title: 'a scheduler that does not respond', series: fault('up', '1x30 0x449'), fires: { TuttiDown: [45, 400] } },
  {
    title: 'no scheduler leads',
    series: fault('leader_election_master_status{name="tutti-scheduler"}', '1x30 0x449'),
    fires: { TuttiNoLeader: [36, 400] },
    silent: { TuttiNoLeader: [32] },
  },
  {
    title: 'two lead',
    series: [...healthy(), scheduler('leader_election_master_status{name="tutti-scheduler"}', '0x30 1x449', 'b')],
    fires: { TuttiTwoLeaders: [33, 400] },
  },
  {
    title: 'a group stays partially bound',
    series: fault('tutti_podgroups_partial', '0x30 1x60 0x389'),
    fires: { TuttiPodGroupPartial: [34, 80] },
    silent: { TuttiPodGroupPartial: [31, 100] },
  },
  {
    title: 'a watch is silent',
    series: fault('tutti_picture_age_seconds{resource="pods"}', '20x30 0+60x449'),
    fires: { TuttiPictureStale: [45, 400] },
    silent: { TuttiPictureStale: [34] },
  },
  {
    title: 'a group waits for capacity for two days',
    series: fault('tutti_oldest_waiting_seconds{waits_for="capacity"}', always(172_800)),
    fires: { TuttiGroupStarving: [20, 400] },
  },
  {
    title: 'a group waits for members for two days: only its owner can help',
    series: [...healthy(), scheduler('tutti_oldest_waiting_seconds{waits_for="members"}', always(172_800))],
    fires: {},
  },
  {
    title: 'a group that would never fit',
    series: fault('tutti_podgroups_waiting{waits_for="never"}', '0x30 2x449'),
    fires: { TuttiGroupNeverFits: [95, 400] },
    silent: { TuttiGroupNeverFits: [60] },
  },
  {
    title: 'a group waits for cordoned nodes for seven hours: it would fit on them',
    series: [...healthy(), scheduler('tutti_podgroups_waiting{waits_for="nodes"}', always(2))],
    fires: {},
  },
  {
    title: 'decisions of ten seconds',
    series: fault('scheduler_scheduling_algorithm_duration_seconds_bucket{le="0.001"}', always(0)).map((input) =>
      input.series.includes('algorithm') && input.series.includes('8.192') ? { ...input, values: always(0) } : input,
    ),
    fires: { TuttiDecisionsSlow: [30, 400] },
    silent: { TuttiDecisionsSlow: [10] },
  },
  {
    title: 'verdicts two seconds late',
    series: fault('tutti_verdict_delay_seconds_bucket{le="0.001"}', always(0)),
    fires: { TuttiVerdictsLate: [30, 400] },
  },
  {
    title: 'a third of the attempts fail',
    series: fault('scheduler_podgroup_schedule_attempts_total{result="error"}', `0+45x${lastsMinutes}`),
    fires: { TuttiSchedulerErrors: [40, 400] },
  },
  {
    title: 'one attempt fails in a quiet hour with few attempts',
    series: healthyExcept(
      scheduler('scheduler_podgroup_schedule_attempts_total{result="scheduled"}', always(100)),
      scheduler('scheduler_podgroup_schedule_attempts_total{result="unschedulable"}', always(10)),
      scheduler('scheduler_podgroup_schedule_attempts_total{result="error"}', '0x60 1x419'),
    ),
    fires: {},
  },
  {
    title: 'a reservation that its owner does not use',
    series: fault('tutti_oldest_claim_seconds{kind="repair"}', `0x30 0+60x449`),
    fires: { TuttiClaimStuck: [55, 400] },
    silent: { TuttiClaimStuck: [42] },
  },
  {
    title: 'a preempted pod does not terminate',
    series: fault('tutti_preemption_stuck_victims', '0x30 1x449'),
    fires: { TuttiVictimStuck: [42, 400] },
    silent: { TuttiVictimStuck: [38] },
  },
  {
    title: 'members are lost again and again',
    series: fault('tutti_reserved_capacity{kind="repair",resource="cpu"}', '0x30 8x449'),
    fires: { TuttiCapacityReserved: [62, 400] },
    silent: { TuttiCapacityReserved: [58] },
  },
  {
    title: 'a partially bound group is lost',
    series: fault('tutti_repairs_total{outcome="lost"}', '0x60 1x419'),
    fires: { TuttiRepairFailing: [62, 110] },
    silent: { TuttiRepairFailing: [59, 130] },
  },
  {
    title: 'a hint was missed',
    series: fault('scheduler_pod_scheduled_after_flush_total', '0x60 2x419'),
    fires: { TuttiMissedHints: [62, 300] },
    silent: { TuttiMissedHints: [59, 440] },
  },
  {
    title: 'the CRD of another project',
    series: fault('tutti_crd_compatible{crd="podgroups.scheduling.x-k8s.io"}', '1x30 0x449'),
    fires: { TuttiCrdIncompatible: [50, 400] },
    silent: { TuttiCrdIncompatible: [40] },
  },
  {
    title: 'no controller responds',
    series: healthyExcept({ without: 'tutti-controller' }),
    fires: { TuttiControllerDown: [12, 400] },
  },
];
