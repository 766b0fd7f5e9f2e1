import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { builtIn } from './built-in.ts';
import type { BuiltInKind } from './built-in.ts';
import { metadataOf, objectAt, textAt } from './access.ts';
import { ageSince, nameColumn, textColumn } from './column.ts';
import { invalidValue } from './field-rules.ts';
import type { ResourceType } from './resource-type.ts';

/** How long an Event is kept after its last write. */
export const eventLifetimeMs = 60 * 60 * 1000;

/** [name in core/v1, which is the stored shape; name in events.k8s.io/v1] */
const renamedFields: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];
const toCore = new Map(renamedFields.map(([core, modern]) => [modern, core]));
const toModern = new Map(renamedFields);

function rename(object: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([field, value]) => [names.get(field) ?? field, value]));
}

function involved(event: JsonObject): JsonObject | undefined {
  return objectAt(event, 'involvedObject') ?? objectAt(event, 'regarding');
}

function lastSeen(event: JsonObject): string {
  const series = textAt(objectAt(event, 'series'), 'lastObservedTime');
  const last = textAt(event, 'lastTimestamp') || textAt(event, 'deprecatedLastTimestamp');
  return series || last || firstSeen(event);
}

function firstSeen(event: JsonObject): string {
  return textAt(event, 'firstTimestamp') || textAt(event, 'deprecatedFirstTimestamp') || textAt(event, 'eventTime');
}

function sourceOf(event: JsonObject): string {
  const source = objectAt(event, 'source') ?? objectAt(event, 'deprecatedSource');
  const component =
    textAt(source, 'component') || textAt(event, 'reportingComponent') || textAt(event, 'reportingController');
  const host = textAt(source, 'host') || textAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}

function countOf(event: JsonObject): number {
  const count = objectAt(event, 'series')?.count ?? event.count ?? event.deprecatedCount;
  return typeof count === 'number' && count > 0 ? count : 1;
}

const shared: Omit<BuiltInKind, 'group' | 'model'> = {
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  shortNames: ['ev'],
  namespaced: true,
  storage: 'events',
  storedApiVersion: 'v1',
  columns: [
    textColumn('Last Seen', (event, nowMs) => ageSince(lastSeen(event) || undefined, nowMs)),
    textColumn('Type', (event) => textAt(event, 'type')),
    textColumn('Reason', (event) => textAt(event, 'reason')),
    textColumn('Object', (event) => {
      const object = involved(event);
      const kind = textAt(object, 'kind').toLowerCase();
      const name = textAt(object, 'name');
      return name === '' ? kind : `${kind}/${name}`;
    }),
    textColumn('Subobject', (event) => textAt(involved(event), 'fieldPath'), 'wide'),
    textColumn('Source', sourceOf, 'wide'),
    textColumn('Message', (event) => (textAt(event, 'message') || textAt(event, 'note')).trim()),
    textColumn('First Seen', (event, nowMs) => ageSince(firstSeen(event) || undefined, nowMs), 'wide'),
    textColumn('Count', countOf, 'wide'),
    { ...nameColumn, priority: 1 },
  ],
};

/** Field selectors are evaluated on the stored shape, whatever the client asked through. */
function involvedField(name: string): (event: JsonObject) => string {
  return (event) => textAt(objectAt(event, 'involvedObject'), name);
}

function textField(name: string): (event: JsonObject) => string {
  return (event) => textAt(event, name);
}

const reasonAndType = { reason: textField('reason'), type: textField('type') };

function involvedFields(prefix: string): Record<string, (event: JsonObject) => string> {
  const names = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
  return Object.fromEntries(names.map((name) => [`${prefix}.${name}`, involvedField(name)]));
}

function validateEvent(event: JsonObject): StatusCause[] {
  const namespace = textAt(metadataOf(event), 'namespace');
  const involvedNamespace = textAt(involved(event), 'namespace');
  const matches =
    involvedNamespace === '' ? namespace === 'default' || namespace === 'kube-system' : involvedNamespace === namespace;
  return matches ? [] : [invalidValue('involvedObject.namespace', involvedNamespace, 'does not match event.namespace')];
}

/** kube-apiserver writes these always; `kubectl get events --sort-by=.lastTimestamp` shows nothing without the times. */
function fillAlwaysPresent(event: JsonObject): void {
  event.firstTimestamp ??= null;
  event.lastTimestamp ??= null;
  event.eventTime ??= null;
  event.source ??= {};
  event.reportingComponent ??= '';
  event.reportingInstance ??= '';
}

const behaviour = {
  createOnUpdate: true,
  applyDefaults: fillAlwaysPresent,
  validate: validateEvent,
};

export const coreEvents: ResourceType = builtIn({
  ...shared,
  group: '',
  model: 'CoreV1Event',
  selectableFields: {
    ...involvedFields('involvedObject'),
    ...reasonAndType,
    reportingComponent: textField('reportingComponent'),
    source: (event) => textAt(objectAt(event, 'source'), 'component') || textAt(event, 'reportingComponent'),
  },
  behaviour,
});

export const events: ResourceType = builtIn({
  ...shared,
  group: 'events.k8s.io',
  model: 'EventsV1Event',
  selectableFields: {
    ...involvedFields('regarding'),
    ...reasonAndType,
    reportingController: textField('reportingComponent'),
  },
  conversion: {
    toStored: (event) => rename(event, toCore),
    fromStored: (event) => {
      const modern = rename(event, toModern);
      for (const field of ['reportingController', 'reportingInstance']) if (modern[field] === '') delete modern[field];
      return modern;
    },
  },
  behaviour,
});
