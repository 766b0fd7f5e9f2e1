import { readFile } from 'node:fs/promises';
import { podGroupDefinition } from '../../src/api/pod-group-schema.ts';
import { podGroupPhases } from '../../src/api/pod-group.ts';
import type { podGroupConditions, PodGroupPhase } from '../../src/api/pod-group.ts';
import type { VerdictReason, WaitsFor } from '../../src/api/verdict.ts';
import { eventRows } from './event-rows.ts';
import { code, codes, madeFrom, table } from './markdown.ts';

const verdictReasons: Readonly<Record<VerdictReason, readonly [waitsFor: readonly WaitsFor[], meaning: string]>> = {
  WaitingForGang: [
    ['members', 'gates'],
    'The group cannot be tried yet: its PodGroup is not there, members are missing, have scheduling gates or name different schedulers. More nodes would not help, so autoscalers add none.',
  ],
  Unschedulable: [
    ['capacity', 'never', 'permit', 'unknown'],
    'The pod, or its whole group, could be tried and does not fit. It is on all members that have no node, so that an autoscaler sees all that is missing.',
  ],
  SchedulerError: [
    ['error'],
    'The attempt failed for a reason that is not the cluster’s state: a plugin threw, an extender did not answer, the API server rejected. It is tried again.',
  ],
};

const waits: Readonly<Record<WaitsFor, string>> = {
  members: 'members that do not exist yet, or the PodGroup',
  gates: 'the scheduling gates of members to be taken away',
  capacity: 'room: it fits once other pods are gone',
  never: 'the nodes or the group to change: it would not fit even if all other pods were gone',
  permit: 'a plugin that did not let it pass',
  error: 'the error to be over',
  unknown: 'room, or a change; which of both was not worth finding out',
};

const phases: Readonly<Record<PodGroupPhase, string>> = {
  Pending: 'fewer members than `minMember` exist that could run',
  Scheduling: 'enough members exist, and not all of the quorum run yet',
  Running: 'the quorum runs',
  Finished: 'the quorum has succeeded',
  Failed: 'the quorum is lost and cannot come back by itself',
  Unknown: 'a phase of scheduler-plugins, which is never written here',
};

type ConditionType = (typeof podGroupConditions)[keyof typeof podGroupConditions];

/** type -> reasons with what they mean; those of Scheduled that are verdicts stand in the table above */
const conditions: Readonly<
  Record<ConditionType, readonly (readonly [status: string, reason: string, meaning: string])[]>
> = {
  Scheduled: [
    ['True', 'QuorumScheduled', 'members that count for the quorum are on nodes'],
    [
      'False',
      'WaitingForScheduler',
      'enough members exist, and the scheduler has not said yet what it makes of them: does it run, and under the name that they give?',
    ],
    ['False', 'WaitingForGang', 'too few members that could run'],
    [
      'False',
      'InvalidSpec',
      'it can never start as it is written, and the message says why: a name that no label can carry, or something in `minResources` that is no name of a resource',
    ],
    ['False', 'SchedulingGated', 'all members without a node have scheduling gates; the API server says so of pods'],
  ],
  Started: [
    ['True', 'QuorumReached', 'the quorum was once on nodes; this stays as long as the PodGroup'],
    ['False', 'QuorumNotReached', 'it never was'],
  ],
  Ready: [
    ['True', 'QuorumReady', 'containers of the quorum are ready, or have succeeded'],
    ['False', 'QuorumNotReady', 'too few are'],
    ['False', 'GroupFinished', 'nothing is left that could become ready'],
  ],
  Incomplete: [
    ['True', 'PartlyScheduled', 'some members are on nodes, too few, and the group has never started'],
    ['True', 'MemberRefused', 'a node did not admit a member'],
    ['True', 'MemberDisrupted', 'a member was evicted or preempted, or is being'],
    ['True', 'MemberFailed', 'a member has failed'],
    ['True', 'MemberLost', 'the group has started, and members are gone'],
    ['False', 'QuorumScheduled', 'nothing is missing'],
    ['False', 'NotScheduled', 'no member is on a node: the group waits as a whole'],
    ['False', 'GroupFinished', 'nothing is left that could be missing'],
  ],
};

/** Markdown, of all that Tutti says of pods and groups in the API. Throws when the sources say something that is not told here. */
export async function statusPage(): Promise<string> {
  await mustTellAllReasons();
  const { status } = podGroupDefinition.spec.versions[0].schema.openAPIV3Schema.properties;
  return [
    '# Verdicts, conditions and Events',
    '',
    madeFrom('the code that writes them'),
    '',
    'What Tutti says of pods and groups in the API. Lists of reasons and words are closed: programs may rely on them. Messages are for people and may change.',
    '',
    '## Verdicts',
    '',
    'Why a pod is not scheduled. The scheduler writes it as the condition `PodScheduled` (status `False`) of each member that has no node; the controller copies that of the first one to the condition `Scheduled` of the PodGroup. [Troubleshooting](../troubleshooting.md) has what to do about each.',
    '',
    table(
      ['reason', 'waits for', 'meaning'],
      Object.entries(verdictReasons).map(([reason, [words, meaning]]) => [code(reason), codes(words), meaning]),
    ),
    '',
    'What it waits for, in one word, is the label `waits_for` of [metrics](../metrics.md) and the field `waitsFor` of `/debug/queue` and `/debug/groups`. There, `turn` is that it is in the queue, and `backoff` that it waits until it is tried again.',
    '',
    table(
      ['word', 'it waits for'],
      Object.entries(waits).map(([word, meaning]) => [code(word), meaning]),
    ),
    '',
    '## Conditions of pods',
    '',
    table(
      ['type', 'reason', 'who writes it'],
      [
        [
          code('PodScheduled'),
          codes(Object.keys(verdictReasons)),
          'the scheduler, when it could not schedule the pod; the API server sets it to `True` when the pod is bound',
        ],
        [
          code('DisruptionTarget'),
          code('PreemptionByScheduler'),
          'the scheduler, of a pod that has to make room, before it deletes it',
        ],
      ],
    ),
    '',
    '## Phases of PodGroups',
    '',
    table(
      ['phase', 'meaning'],
      podGroupPhases.map((phase) => [code(phase), phases[phase]]),
    ),
    '',
    '## Conditions of PodGroups',
    '',
    table(
      ['type', 'status', 'reason', 'meaning'],
      Object.entries(conditions).flatMap(([type, reasons]) =>
        reasons.map(([value, reason, meaning]) => [code(type), value, code(reason), meaning]),
      ),
    ),
    '',
    '`Scheduled` is `False` with the reason and the message of a verdict as soon as there is one.',
    '',
    '## Other fields of the status of PodGroups',
    '',
    table(
      ['field', 'meaning'],
      Object.entries(status.properties ?? {})
        .filter(([name]) => name !== 'conditions' && name !== 'phase')
        .map(([name, { description = '' }]) => [code(name), description]),
    ),
    '',
    '## Events',
    '',
    'Of `events.k8s.io/v1`, in the name of the scheduler that the pod names (`reportingController`). One that repeats within six minutes becomes a series. Losing one loses nothing else.',
    '',
    table(
      ['about', 'type', 'reason', 'action', 'when', 'such as'],
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

const sources = ['../../src/controller/pod-group-status.ts', '../../src/scheduler/api/api-pod-evictor.ts'];

async function mustTellAllReasons(): Promise<void> {
  const told = new Set([
    'PreemptionByScheduler',
    ...Object.keys(verdictReasons),
    ...Object.values(conditions).flatMap((reasons) => reasons.map(([, reason]) => reason)),
  ]);
  for (const source of sources) {
    const text = await readFile(new URL(source, import.meta.url), 'utf8');
    const written = [...text.matchAll(/reason(?:: \w+ =|:) '(\w+)'/g)].map(([, reason]) => reason!);
    const untold = written.filter((reason) => !told.has(reason));
    if (written.length === 0 || untold.length > 0)
      throw new Error(
        `${source} writes reasons that status-page.ts does not tell: ${untold.join(', ') || 'none is found'}`,
      );
  }
}
