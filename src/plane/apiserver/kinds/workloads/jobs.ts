import type { JsonObject } from '../../json.ts';
import { ensureObject, metadataOf, objectAt, objectsAt, textAt } from '../access.ts';
import { builtIn } from '../built-in.ts';
import { textColumn } from '../column.ts';
import { humanDuration } from '../human-duration.ts';
import type { ResourceType } from '../resource-type.ts';
import { applyPodTemplateDefaults } from './pod-template.ts';
import { validateJob, validateJobUpdate } from './validate-job.ts';

/** The label that selects a Job's pods. Its value is unique to the Job. */
const uidLabel = 'batch.kubernetes.io/controller-uid';
/** Each label has an old and a new name. Jobs get both. */
const nameLabels = ['job-name', 'batch.kubernetes.io/job-name'];
const uidLabels = ['controller-uid', uidLabel];

/** A controller creates the pods of Jobs. It is a client of the server. */
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
  behavior: {
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

/** Adds the Job's own labels to its pods and selects them, unless the user set other values. Validation then rejects a mismatch. */
function generateSelector(job: JsonObject): void {
  const { name, uid } = metadataOf(job);
  const spec = ensureObject(job, 'spec');
  const labels = ensureObject(ensureObject(ensureObject(spec, 'template'), 'metadata'), 'labels');
  for (const label of nameLabels) labels[label] ??= name!;
  for (const label of uidLabels) labels[label] ??= uid!;
  ensureObject(ensureObject(spec, 'selector'), 'matchLabels')[uidLabel] ??= uid!;
}

/** Copies the labels of the pod template to a Job without labels. */
function shareLabels(job: JsonObject): void {
  const labels = objectAt(objectAt(objectAt(objectAt(job, 'spec'), 'template'), 'metadata'), 'labels');
  const metadata = metadataOf(job);
  if (labels !== undefined && Object.keys(objectAt(metadata, 'labels') ?? {}).length === 0)
    metadata.labels = { ...labels };
}

/** Returns the number of succeeded pods. */
function succeededOf(job: JsonObject): number {
  return Number(objectAt(job, 'status')?.succeeded ?? 0);
}

/** Condition types by precedence. The Status column shows the first one that is true. */
const shownConditions = ['Complete', 'Failed', 'Terminating', 'Suspended', 'FailureTarget', 'SuccessCriteriaMet'];

function statusText(job: JsonObject): string {
  const trueTypes = new Set(
    objectsAt(objectAt(job, 'status'), 'conditions')
      .filter((condition) => condition.status === 'True')
      .map((condition) => textAt(condition, 'type')),
  );
  if (metadataOf(job).deletionTimestamp !== undefined) trueTypes.add('Terminating');
  return shownConditions.find((type) => trueTypes.has(type)) ?? 'Running';
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
