import type { TransportResponse } from '../../../client/transport.ts';
import { resourceVersionTooLarge } from '../http/api-error.ts';
import { textResponse } from '../http/response.ts';
import type { JsonObject } from '../json.ts';
import { apiVersionOf } from '../kinds/resource-type.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ApiContext } from './api-context.ts';
import { presentItemText, tableHead, tableRow } from './present.ts';
import type { Presentation } from './present.ts';
import type { ListOptions } from './request-options.ts';
import { readSelection, selectObjects } from './select.ts';

/** Lists the latest state in the requested form. Returns all objects: a server may ignore the limit. Throws 400 or 504. */
export function listObjects(
  context: ApiContext,
  type: ResourceType,
  namespace: string | undefined,
  options: ListOptions,
  presentation: Presentation,
): TransportResponse {
  const selection = readSelection(type, namespace, options);
  const current = context.store.resourceVersion;
  const requested = options.resourceVersion ?? 0;
  if (requested > current) throw resourceVersionTooLarge(requested, current);
  const objects = selectObjects(context.store.collection(type.storage), selection);
  const { head, field, item } = listForm(type, { resourceVersion: String(current) }, presentation, context.nowMs());
  const text = `${JSON.stringify(head).slice(0, -1)},"${field}":[${objects.map(item).join(',')}]}\n`;
  return textResponse(text, 'application/json');
}

interface ListForm {
  readonly head: JsonObject;
  readonly field: 'items' | 'rows';
  readonly item: (stored: StoredObject) => string;
}

function listForm(type: ResourceType, metadata: JsonObject, presentation: Presentation, nowMs: number): ListForm {
  if (presentation.form === 'object') {
    const head = { kind: type.listKind, apiVersion: apiVersionOf(type), metadata };
    return { head, field: 'items', item: (stored) => presentItemText(type, stored) };
  }
  const item = (stored: StoredObject): string => JSON.stringify(tableRow(type, stored, presentation, nowMs));
  return { head: tableHead(type, metadata), field: 'rows', item };
}
