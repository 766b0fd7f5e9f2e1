import type { TransportResponse } from '../../../client/transport.ts';
import { expired, resourceVersionTooLarge } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { apiVersionOf } from '../kinds/resource-type.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import type { Collection } from '../store/collection.ts';
import type { ApiContext } from './api-context.ts';
import { presentOne, presentText, tableHead } from './present.ts';
import type { Presentation } from './present.ts';
import type { ListOptions } from './request-options.ts';
import { readSelection, selectObjects, selects } from './select.ts';
import type { Selection } from './select.ts';
import { WatchStream, visibleEvent } from './watch-stream.ts';
import type { WatchEvent } from './watch-stream.ts';

/** A watch without a timeout ends after a random time between this and twice this, so that clients do not reconnect all at once. */
const minWatchMs = 30 * 60 * 1000;
const pendingLimit = 10_000;

/** Starts a watch: a stream of events, one JSON text per line. Throws 400, 410 or 504 before the stream begins. */
export function watchObjects(
  context: ApiContext,
  type: ResourceType,
  namespace: string | undefined,
  options: ListOptions,
  presentation: Presentation,
  signal: AbortSignal | undefined,
): TransportResponse {
  const selection = readSelection(type, namespace, options);
  const collection = context.store.collection(type.storage);
  const stream: WatchStream = new WatchStream(
    {
      clock: context.clock,
      selects: selects(selection),
      encode: eventEncoder(context, type, presentation),
      resourceVersion: () => context.store.resourceVersion,
      bookmarks: options.allowWatchBookmarks,
      timeoutMs:
        options.timeoutSeconds === undefined || options.timeoutSeconds === 0
          ? minWatchMs * (1 + context.random())
          : options.timeoutSeconds * 1000,
      pendingLimit,
      ...(signal && { signal }),
      onEnd: (ended) => {
        unsubscribe();
        context.watches.delete(ended);
      },
    },
    backlog(context, collection, selection, options),
  );
  const unsubscribe = collection.subscribe((change) => stream.onChange(change));
  context.watches.add(type.storage, stream);
  return { status: 200, headers: { 'content-type': 'application/json' }, body: stream };
}

function backlog(
  context: ApiContext,
  collection: Collection,
  selection: Selection,
  options: ListOptions,
): readonly WatchEvent[] {
  const requested = options.resourceVersion ?? 0;
  const current = context.store.resourceVersion;
  if (requested > current) throw resourceVersionTooLarge(requested, current);
  if (options.sendInitialEvents || requested === 0) {
    const initial = selectObjects(collection, selection).map((object): WatchEvent => ({ type: 'ADDED', object }));
    if (options.sendInitialEvents && options.allowWatchBookmarks) {
      initial.push({ type: 'BOOKMARK', resourceVersion: current, initialEventsEnd: true });
    }
    return initial;
  }
  const changes = collection.changesAfter(requested);
  if (changes === undefined) throw expired(`too old resource version: ${requested} (${current})`);
  const predicate = selects(selection);
  return changes.map((change) => visibleEvent(change, predicate)).filter((event) => event !== undefined);
}

/** Returns the encoder of one watch. Only its first table defines the columns. */
function eventEncoder(
  context: ApiContext,
  type: ResourceType,
  presentation: Presentation,
): (event: WatchEvent) => string {
  let columns: 'defined' | undefined;
  return (event) => {
    if (event.type === 'BOOKMARK') {
      return `${JSON.stringify({ type: 'BOOKMARK', object: bookmarkObject(type, presentation, event) })}\n`;
    }
    const text =
      presentation.form === 'object'
        ? presentText(type, event.object)
        : presentOne(type, event.object, presentation, context.nowMs(), columns);
    columns = 'defined';
    return `{"type":"${event.type}","object":${text}}\n`;
  };
}

function bookmarkObject(
  type: ResourceType,
  presentation: Presentation,
  event: WatchEvent & { readonly type: 'BOOKMARK' },
): JsonObject {
  const metadata: JsonObject = { resourceVersion: String(event.resourceVersion) };
  if (event.initialEventsEnd) metadata.annotations = { 'k8s.io/initial-events-end': 'true' };
  if (presentation.form === 'table') return { ...tableHead(type, metadata), rows: [] };
  return { kind: type.kind, apiVersion: apiVersionOf(type), metadata };
}
