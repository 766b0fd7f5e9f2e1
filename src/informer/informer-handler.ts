/**
 * Told of every change to one kind, synchronously and in order, after the store has changed. A handler that throws is
 * reported; the change counts as delivered all the same. Deliveries may repeat what is known already (after a relist),
 * so handlers must be idempotent.
 */
export interface InformerHandler<T> {
  onAdd(object: T): void;
  onUpdate(previous: T, object: T): void;
  /**
   * `last` is the last known state; with `isFinalStateUnknown` the deletion itself was missed and found by a relist, so
   * changes may have come between. The same name with another uid is a deletion followed by an addition.
   */
  onDelete(last: T, isFinalStateUnknown: boolean): void;
  /** Once, when everything that the first list held has been delivered. */
  onSynced?(): void;
  /** After each later list, when everything it changed has been delivered. */
  onReplaced?(): void;
}
