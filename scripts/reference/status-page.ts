import { readFile } from 'node:fs/promises';
import { initiallyScheduled } from '../../src/api/native-pod-group.ts';
import { podGroupDefinition } from '../../src/api/pod-group-schema.ts';
import { podGroupPhases } from '../../src/api/pod-group.ts';
import type { podGroupConditions, PodGroupPhase } from '../../src/api/pod-group.ts';
import { predictedStartCondition, startConfidences } from '../../src/api/predicted-start.ts';
import type { VerdictReason, WaitsFor } from '../../src/api/verdict.ts';
import { eventRows } from './event-rows.ts';
import { code, codes, madeFrom, table } from './markdown.ts';

const verdictReasons: Readonly<Record<VerdictReason, readonly [waitsFor: readonly WaitsFor[], meaning: string]>> = {
  WaitingForGang: [
    ['members', 'gates'],
    'The group is not ready: its PodGroup does not exist, or its members are missing, have scheduling gates or name different schedulers. More nodes would not help, so autoscalers add none',
  ],
  WaitingForTurn: [
    ['turn'],
    'The pod or its group fits, but only on capacity that Tutti reserves for a pod or group ahead of it. Autoscalers add no nodes for it: they see the one ahead, which is `Unschedulable`',
  ],
  Unschedulable: [
    ['capacity', 'nodes', 'never', 'permit', 'unknown'],
    'The pod or its group is ready but does not fit. All unbound members have this verdict, so that an autoscaler sees the whole demand',
  ],
  SchedulerError: [
    ['error'],
    'The attempt failed for a reason other than the state of the cluster: a plugin threw, an extender did not respond, or the API server rejected the request. The scheduler retries',
  ],
};

const waits: Readonly<Record<WaitsFor, string>> = {
  members: 'Members that do not exist yet, or the PodGroup',
  gates: 'The removal of scheduling gates from members',
  turn: 'The start of the pod or group for which capacity is reserved',
  capacity: 'Free capacity: it fits once other pods are gone',
  nodes:
    'Nodes that are cordoned, not ready, unreachable or under pressure: it would not fit on the others even if all other pods were gone',
  never:
    'A change of the nodes or the group: it would not fit even if all nodes were available and all other pods were gone',
  permit: 'A plugin that rejected it, such as a Permit plugin',
  error: 'The end of the error',
  unknown: 'Free capacity or a change of the nodes. The scheduler did not determine which',
};

const phases: Readonly<Record<PodGroupPhase, string>> = {
  Pending: 'Fewer than `minMember` members exist that can run',
  Scheduling: 'Enough members exist, but not all of the quorum run yet',
  Running: 'The quorum runs',
  Finished: 'The quorum has succeeded',
  Failed: 'The quorum is lost and cannot recover by itself',
  Unknown: 'A phase of scheduler-plugins, which Tutti never writes',
};

type ConditionType = (typeof podGroupConditions)[keyof typeof podGroupConditions];

/** condition type -> its reasons with their meanings, without the verdicts, which have a table of their own */
const conditions: Readonly<
  Record<ConditionType, readonly (readonly [status: string, reason: string, meaning: string])[]>
> = {
  Scheduled: [
    ['True', 'QuorumScheduled', 'The quorum is bound'],
    [
      'False',
      'WaitingForScheduler',
      'Enough members exist, but they have no verdict yet. Check that a scheduler with their `schedulerName` is running',
    ],
    ['False', 'WaitingForGang', 'Too few members exist that can run'],
    [
      'False',
      'LabelMissing',
      'Too few members exist, because pods lack the label of the group. The message names the workload that has the label, or the wrong key of the pods',
    ],
    [
      'False',
      'InvalidSpec',
      'The group can never start, and the message says why: its name is not a valid label value, or `minResources` contains an invalid resource name',
    ],
    [
      'False',
      'SchedulingGated',
      'All unbound members have scheduling gates. The API server sets the same reason on such pods',
    ],
  ],
  Started: [
    ['True', 'QuorumReached', 'The quorum was bound, and some member still is, or has succeeded'],
    ['False', 'QuorumNotReached', 'The quorum was never bound'],
    ['False', 'Preempted', 'The group had started and was preempted as a whole. It starts over, with its quorum'],
    [
      'False',
      'Ended',
      'The group had started, and no member is bound or has succeeded any more. It starts over, with its quorum',
    ],
  ],
  Ready: [
    ['True', 'QuorumReady', 'The members of the quorum are ready or have succeeded'],
    ['False', 'QuorumNotReady', 'Too few members are ready'],
    ['False', 'GroupFinished', 'No member is left that could become ready'],
  ],
  Incomplete: [
    ['True', 'PartlyScheduled', 'Fewer members than the quorum are bound, and the group has never started'],
    ['True', 'MemberRefused', 'A node rejected a member'],
    ['True', 'MemberDisrupted', 'A member was evicted or preempted, or is being evicted or preempted'],
    ['True', 'MemberFailed', 'A member has failed'],
    ['True', 'MemberLost', 'The group has started, and members are gone'],
    ['False', 'QuorumScheduled', 'No member is missing'],
    ['False', 'NotScheduled', 'No member is bound: the group waits as a whole'],
    ['False', 'GroupFinished', 'No member is left that could be missing'],
  ],
  SpecAccepted: [
    [
      'False',
      'FieldIgnored',
      'A negative `scheduleTimeoutSeconds` or `minResources` has no effect. Absent if every field has an effect',
    ],
  ],
  RepairGraceLimited: [
    [
      'True',
      'AboveMaximum',
      "`repairGraceSeconds` exceeds the administrator's maximum, which applies instead. Absent if it does not",
    ],
  ],
};

/** Returns the page in Markdown: verdicts, conditions, phases and Events. Throws if the sources write a reason that is missing here. */
export async function statusPage(): Promise<string> {
  await checkReasons();
  const { status } = podGroupDefinition.spec.versions[0].schema.openAPIV3Schema.properties;
  return [
    '# Verdicts, conditions and Events',
    '',
    madeFrom('the code that writes them'),
    '',
    'This page lists what Tutti writes about pods and groups to the API. The lists of reasons and of `waits_for` values are closed, so programs can rely on them. Messages are for people and can change.',
    '',
    '## Verdicts',
    '',
    'A verdict explains why a pod is not scheduled. The scheduler writes it to the condition `PodScheduled` (status `False`) of each unbound member. The controller copies the verdict of the unbound member with the lowest UID to the condition `Scheduled` of the PodGroup. [Troubleshooting](../troubleshooting.md) describes what to do about each verdict.',
    '',
    table(
      ['Reason', 'Waits for', 'Meaning'],
      Object.entries(verdictReasons).map(([reason, [words, meaning]]) => [code(reason), codes(words), meaning]),
    ),
    '',
    '[Metrics](../metrics.md) have this value in the label `waits_for`; `/debug/queue` and `/debug/groups` have it in the field `waitsFor`. Metrics have `turn` also for a group in the active queue, and one more value: `backoff` means that the group waits for the end of its backoff.',
    '',
    table(
      ['Value', 'Waits for'],
      Object.entries(waits).map(([word, meaning]) => [code(word), meaning]),
    ),
    '',
    '## Conditions of pods',
    '',
    table(
      ['Type', 'Reason', 'Written by'],
      [
        [
          code('PodScheduled'),
          codes(Object.keys(verdictReasons)),
          'The scheduler, if it could not schedule the pod. The API server sets the status to `True` when the pod is bound',
        ],
        [
          code(predictedStartCondition),
          codes(startConfidences),
          'The scheduler, to the unbound member with the lowest UID, while it reserves capacity for its group; also to a single pod. The message is the latest time at which the group should start, in RFC 3339, or empty if it is unknown. The controller copies both to the PodGroup. The condition has no meaning once the pod is bound',
        ],
        [
          code('DisruptionTarget'),
          code('PreemptionByScheduler'),
          'The scheduler, for a preemption victim, before it deletes the pod',
        ],
      ],
    ),
    '',
    '## Phases of PodGroups',
    '',
    table(
      ['Phase', 'Meaning'],
      podGroupPhases.map((phase) => [code(phase), phases[phase]]),
    ),
    '',
    '## Conditions of PodGroups',
    '',
    table(
      ['Type', 'Status', 'Reason', 'Meaning'],
      Object.entries(conditions).flatMap(([type, reasons]) =>
        reasons.map(([value, reason, meaning]) => [code(type), value, code(reason), meaning]),
      ),
    ),
    '',
    'If there is a verdict, `Scheduled` is `False` with its reason and message, unless the reason is `InvalidSpec` or `LabelMissing`.',
    '',
    "## Condition of Kubernetes' own PodGroups",
    '',
    `Into PodGroups of \`scheduling.k8s.io\`, the controller writes only the condition ${code(initiallyScheduled)}, and only if all pods of the group have the \`schedulerName\` of a profile of Tutti.`,
    '',
    table(
      ['Status', 'Reason', 'Meaning'],
      [
        ['True', code('Scheduled'), 'The quorum was bound, or one pod of a basic group. It stays True'],
        [
          'False',
          codes(['Unschedulable', 'SchedulerError']),
          'Not yet. The message is the verdict of the unbound member with the lowest UID. If that member only waits, but others have been bound for 10 s, the message says how many',
        ],
        ['absent', '', 'The members wait for each other, for scheduling gates or for their turn, or there are none'],
      ],
    ),
    '',
    '## Other status fields of PodGroups',
    '',
    table(
      ['Field', 'Meaning'],
      Object.entries(status.properties ?? {})
        .filter(([name]) => name !== 'conditions' && name !== 'phase')
        .map(([name, { description = '' }]) => [code(name), description]),
    ),
    '',
    '## Events',
    '',
    'The scheduler records Events of `events.k8s.io/v1`, and the controller records `LabelMissing`. `reportingController` is the scheduler name in the pod, or `tutti-controller`. An Event that repeats within six minutes becomes a series. Events are best effort: a lost Event affects nothing else.',
    '',
    table(
      ['Object', 'Type', 'Reason', 'Action', 'When', 'Example'],
      eventRows().map(({ about, type, reason, action, when, note }) => [
        about,
        type,
        code(reason),
        code(action),
        when,
        note,
      ]),
    ),
    '',
  ].join('\n');
}

const source = '../../src/controller/pod-group-status.ts';

async function checkReasons(): Promise<void> {
  const documented = new Set([
    ...Object.keys(verdictReasons),
    ...Object.values(conditions).flatMap((reasons) => reasons.map(([, reason]) => reason)),
  ]);
  const text = await readFile(new URL(source, import.meta.url), 'utf8');
  const written = [...text.matchAll(/reason(?:: \w+ =|:) '(\w+)'/g)].map(([, reason]) => reason!);
  const missing = written.filter((reason) => !documented.has(reason));
  if (written.length === 0 || missing.length > 0)
    throw new Error(
      `${source} writes reasons that status-page.ts does not document: ${missing.join(', ') || 'found no reason'}`,
    );
}
