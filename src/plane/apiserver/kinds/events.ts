import type { StatusCause } from '../http/api-error.ts';
import type { SelectableFields } from '../http/selectors.ts';
import type { JsonObject } from '../json.ts';
import { builtIn } from './built-in.ts';
import type { BuiltInKind } from './built-in.ts';
import { metadataOf, objectAt, textAt, valueAt } from './access.ts';
import { ageSince, fieldColumn, nameColumn, textColumn } from './column.ts';
import type { Column } from './column.ts';
import { invalidValue } from '../schema/field-error.ts';
import type { ResourceType } from './resource-type.ts';

/** Time after its last write for which the server keeps an Event. */
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

/** Returns the first non-empty string among these fields of an Event. */
function firstText(event: JsonObject, ...paths: readonly string[]): string | undefined {
  const values = paths.map((path) => valueAt(event, path));
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}

const columns: readonly Column[] = [
  textColumn('Last Seen', (event, nowMs) =>
    ageSince(firstText(event, 'series.lastObservedTime', 'lastTimestamp', 'firstTimestamp', 'eventTime'), nowMs),
  ),
  fieldColumn('Type', 'type'),
  fieldColumn('Reason', 'reason'),
  textColumn('Object', (event) => {
    const object = objectAt(event, 'involvedObject');
    return [textAt(object, 'kind').toLowerCase(), textAt(object, 'name')].filter((part) => part !== '').join('/');
  }),
  textColumn('Source', (event) => firstText(event, 'source.component', 'reportingComponent') ?? '', 'wide'),
  textColumn('Message', (event) => textAt(event, 'message').trim()),
  { ...nameColumn, priority: 1 },
];

/** Returns the selectable fields. They read the stored shape, because the server applies selectors to stored objects. */
function selectableFields(involved: string, component: string): SelectableFields {
  const paths: readonly (readonly [string, string])[] = [
    ['reason', 'reason'],
    ['type', 'type'],
    [component, 'reportingComponent'],
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
      (name) => [`${involved}.${name}`, `involvedObject.${name}`] as const,
    ),
  ];
  return Object.fromEntries(paths.map(([field, path]) => [field, (event) => firstText(event, path) ?? '']));
}

function validateEvent(event: JsonObject): StatusCause[] {
  const namespace = textAt(metadataOf(event), 'namespace');
  const involvedNamespace = textAt(objectAt(event, 'involvedObject'), 'namespace');
  const matches =
    involvedNamespace === '' ? namespace === 'default' || namespace === 'kube-system' : involvedNamespace === namespace;
  return matches ? [] : [invalidValue('involvedObject.namespace', involvedNamespace, 'does not match event.namespace')];
}

const shared: BuiltInKind = {
  kind: 'Event',
  shortNames: ['ev'],
  storage: 'events',
  storedApiVersion: 'v1',
  behavior: {
    applyDefaults: (event) => {
      // kube-apiserver always writes these fields. Without the times, `kubectl get events --sort-by=.lastTimestamp` shows nothing.
      for (const field of ['firstTimestamp', 'lastTimestamp', 'eventTime']) event[field] ??= null;
      event.source ??= {};
      event.reportingComponent ??= '';
      event.reportingInstance ??= '';
    },
    validate: validateEvent,
  },
};

export const coreEvents: ResourceType = {
  ...builtIn({
    ...shared,
    model: 'CoreV1Event',
    selectableFields: selectableFields('involvedObject', 'reportingComponent'),
  }),
  columns,
};

export const events: ResourceType = {
  ...builtIn({
    ...shared,
    group: 'events.k8s.io',
    model: 'EventsV1Event',
    selectableFields: selectableFields('regarding', 'reportingController'),
    conversion: {
      toStored: (event) => rename(event, toCore),
      fromStored: (event) => {
        const modern = rename(event, toModern);
        for (const field of ['reportingController', 'reportingInstance']) {
          if (modern[field] === '') delete modern[field];
        }
        return modern;
      },
    },
  }),
  columns,
};
