import type { TransportResponse } from '../../../client/transport.ts';
import { badRequest, expired, resourceVersionTooLarge } from '../http/api-error.ts';
import { streamedTextResponse } from '../http/response.ts';
import type { JsonObject } from '../json.ts';
import { apiVersionOf } from '../kinds/resource-type.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import { decodeContinueToken, encodeContinueToken } from '../store/list-snapshots.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ApiContext } from './api-context.ts';
import { partialMetadata, presentItemText, tableHead, tableRow } from './present.ts';
import type { Presentation } from './present.ts';
import type { ListOptions } from './request-options.ts';
import { filterSelected, readSelection, selectObjects } from './select.ts';
import type { Selection } from './select.ts';

interface Page {
  readonly resourceVersion: number;
  readonly objects: readonly StoredObject[];
  readonly continueToken: string;
  /** Undefined when it is not known, or not told. */
  readonly remaining: number | undefined;
}

/** Answers a list: one page of one moment's state, in the form that was asked for. */
export function listObjects(
  context: ApiContext,
  type: ResourceType,
  namespace: string | undefined,
  options: ListOptions,
  presentation: Presentation,
): TransportResponse {
  const selection = readSelection(type, namespace, options);
  const page = readPage(context, type, selection, options);
  return streamedTextResponse(listTexts(context, type, page, presentation), 'application/json');
}

function readPage(context: ApiContext, type: ResourceType, selection: Selection, options: ListOptions): Page {
  if (options.continueToken !== undefined) return continuedPage(context, selection, options, options.continueToken);
  const { objects, resourceVersion } = objectsAtVersion(context, type, selection, options);
  return cutPage(context, selection, options.limit, { objects, resourceVersion, scope: selection.scope }, 0, undefined);
}

function objectsAtVersion(
  context: ApiContext,
  type: ResourceType,
  selection: Selection,
  options: ListOptions,
): { objects: StoredObject[]; resourceVersion: number } {
  const collection = context.store.collection(type.storage);
  const current = context.store.resourceVersion;
  const asked = options.resourceVersion ?? 0;
  if (asked > current) throw resourceVersionTooLarge(asked, current);
  // A limit together with a version has always meant exactly that version.
  const exact =
    options.resourceVersionMatch === 'Exact' || (options.resourceVersionMatch === undefined && options.limit > 0);
  if (asked === 0 || !exact) return { objects: selectObjects(collection, selection), resourceVersion: current };
  const past = collection.listAt(asked);
  if (past === undefined) throw expired(`The resourceVersion for the provided list is too old: ${asked}`);
  return { objects: filterSelected(past, selection.namespace, selection.matches), resourceVersion: asked };
}

function continuedPage(context: ApiContext, selection: Selection, options: ListOptions, text: string): Page {
  const token = decodeContinueToken(text);
  if (token === undefined) throw badRequest('continue key is not valid: it must be the one that the page before gave');
  if (options.resourceVersion !== undefined && options.resourceVersion !== 0) {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const snapshot = context.snapshots.get(token.snapshot);
  if (snapshot?.resourceVersion !== token.resourceVersion) {
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.',
    );
  }
  if (snapshot.scope !== selection.scope) {
    throw badRequest('continue key is not valid: it belongs to a list of other objects or with other selectors');
  }
  return cutPage(context, selection, options.limit, snapshot, token.offset, token.snapshot);
}

function cutPage(
  context: ApiContext,
  selection: Selection,
  limit: number,
  snapshot: { objects: readonly StoredObject[]; resourceVersion: number; scope: string },
  offset: number,
  knownId: number | undefined,
): Page {
  const { objects, resourceVersion } = snapshot;
  const end = limit === 0 ? objects.length : Math.min(offset + limit, objects.length);
  const page = offset === 0 && end === objects.length ? objects : objects.slice(offset, end);
  if (end === objects.length) return { resourceVersion, objects: page, continueToken: '', remaining: undefined };
  const id = knownId ?? context.snapshots.add(snapshot);
  return {
    resourceVersion,
    objects: page,
    continueToken: encodeContinueToken({ snapshot: id, offset: end, resourceVersion }),
    remaining: selection.matches === undefined ? objects.length - end : undefined,
  };
}

function* listTexts(
  context: ApiContext,
  type: ResourceType,
  page: Page,
  presentation: Presentation,
): Generator<string> {
  const metadata: JsonObject = { resourceVersion: String(page.resourceVersion) };
  if (page.continueToken !== '') metadata.continue = page.continueToken;
  if (page.remaining !== undefined) metadata.remainingItemCount = page.remaining;
  const nowMs = context.nowMs();
  const { head, field, item } = listForm(type, metadata, presentation, nowMs);
  yield `${JSON.stringify(head).slice(0, -1)},"${field}":[`;
  let separator = '';
  for (const stored of page.objects) {
    yield separator + item(stored);
    separator = ',';
  }
  yield ']}\n';
}

interface ListForm {
  readonly head: JsonObject;
  readonly field: 'items' | 'rows';
  readonly item: (stored: StoredObject) => string;
}

function listForm(type: ResourceType, metadata: JsonObject, presentation: Presentation, nowMs: number): ListForm {
  switch (presentation.form) {
    case 'object':
      return {
        head: { kind: type.listKind, apiVersion: apiVersionOf(type), metadata },
        field: 'items',
        item: (stored) => presentItemText(type, stored),
      };
    case 'partial':
      return {
        head: { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${presentation.version}`, metadata },
        field: 'items',
        item: (stored) => JSON.stringify(partialMetadata(stored.object, presentation.version)),
      };
    case 'table':
      return {
        head: tableHead(type, presentation.version, metadata),
        field: 'rows',
        item: (stored) => JSON.stringify(tableRow(type, stored, presentation, nowMs)),
      };
  }
}
