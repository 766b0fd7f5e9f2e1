import type { JsonObject } from '../../json.ts';
import { ensureObject, metadataOf, objectAt, objectsAt, textAt } from '../access.ts';
import { builtIn } from '../built-in.ts';
import { textColumn } from '../column.ts';
import { humanDuration } from '../human-duration.ts';
import type { ResourceType } from '../resource-type.ts';
import { applyPodTemplateDefaults } from './pod-template.ts';
import { validateJob, validateJobUpdate } from './validate-job.ts';

/** What its pods are selected by; nobody else's have that. */
const uidLabel = 'batch.kubernetes.io/controller-uid';
/** Both names of each label are written. */
const nameLabels = ['job-name', 'batch.kubernetes.io/job-name'];
const uidLabels = ['controller-uid', uidLabel];

/** A controller makes pods of them, which is a client like any other. */
export const jobs: ResourceType = builtIn({
  group: 'batch',
  kind: 'Job',
  categories: ['all'],
  hasStatus: true,
  selectableFields: { 'status.successful': (job) => String(succeededOf(job)) },
  columns: [
    textColumn('Status', statusText),
    textColumn('Completions', completionsText),
    textColumn('Duration', durationText),
  ],
  defaults: {
    spec: {
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      manualSelector: false,
      podReplacementPolicy: 'TerminatingOrFailed',
      suspend: false,
    },
    status: {},
  },
  values: { 'spec.completionMode': ['NonIndexed', 'Indexed'] },
  behaviour: {
    generation: 'spec',
    statusKeepsMetadata: true,
    applyDefaults: applyJobDefaults,
    admitCreate: (job) => {
      if (objectAt(job, 'spec')?.manualSelector !== true) generateSelector(job);
      shareLabels(job);
    },
    validate: validateJob,
    validateUpdate: validateJobUpdate,
  },
});

function applyJobDefaults(job: JsonObject): void {
  const spec = ensureObject(job, 'spec');
  if (spec.parallelism === undefined) spec.completions ??= 1;
  spec.parallelism ??= 1;
  applyPodTemplateDefaults(spec);
}

/** Labels of its own for the pods, and a selector of these, unless the user has given others; those are found out when it is checked. */
function generateSelector(job: JsonObject): void {
  const { name, uid } = metadataOf(job);
  const spec = ensureObject(job, 'spec');
  const labels = ensureObject(ensureObject(ensureObject(spec, 'template'), 'metadata'), 'labels');
  for (const label of nameLabels) labels[label] ??= name!;
  for (const label of uidLabels) labels[label] ??= uid!;
  ensureObject(ensureObject(spec, 'selector'), 'matchLabels')[uidLabel] ??= uid!;
}

/** A Job without labels has those of its pods. */
function shareLabels(job: JsonObject): void {
  const labels = objectAt(objectAt(objectAt(objectAt(job, 'spec'), 'template'), 'metadata'), 'labels');
  const metadata = metadataOf(job);
  if (labels !== undefined && Object.keys(objectAt(metadata, 'labels') ?? {}).length === 0)
    metadata.labels = { ...labels };
}

/** How many of its pods are counted as succeeded. */
function succeededOf(job: JsonObject): number {
  return Number(objectAt(job, 'status')?.succeeded ?? 0);
}

/** In the order in which one is shown before another. */
const shownConditions = ['Complete', 'Failed', 'Terminating', 'Suspended', 'FailureTarget', 'SuccessCriteriaMet'];

function statusText(job: JsonObject): string {
  const holds = new Set(
    objectsAt(objectAt(job, 'status'), 'conditions')
      .filter((condition) => condition.status === 'True')
      .map((condition) => textAt(condition, 'type')),
  );
  if (metadataOf(job).deletionTimestamp !== undefined) holds.add('Terminating');
  return shownConditions.find((type) => holds.has(type)) ?? 'Running';
}

function completionsText(job: JsonObject): string {
  const { completions, parallelism } = objectAt(job, 'spec') ?? {};
  const succeeded = succeededOf(job);
  if (completions !== undefined) return `${succeeded}/${Number(completions)}`;
  return Number(parallelism) > 1 ? `${succeeded}/1 of ${Number(parallelism)}` : `${succeeded}/1`;
}

function durationText(job: JsonObject, nowMs: number): string {
  const status = objectAt(job, 'status');
  const [start, end] = [textAt(status, 'startTime'), textAt(status, 'completionTime')];
  if (start === '') return '';
  return humanDuration((end === '' ? nowMs : Date.parse(end)) - Date.parse(start));
}
