/**
 * Receives every change to one kind, synchronously and in order, after the store has changed. If a handler throws, the reflector
 * reports it, and the change still counts as delivered. After a relist, deliveries may repeat known state, so handlers must be
 * idempotent.
 */
export interface InformerHandler<T> {
  onAdd(object: T): void;
  onUpdate(previous: T, object: T): void;
  /**
   * `last` is the last known state. With `isFinalStateUnknown` the watch missed the deletion and a relist found it, so earlier
   * changes may be missing too. The same name with another uid is a deletion followed by an addition.
   */
  onDelete(last: T, isFinalStateUnknown: boolean): void;
  /** Called once, when all objects of the first list have been delivered. */
  onSynced?(): void;
  /** Called before each later list. From then until `onReplaced`, some objects are as of the list, and others older. */
  onListing?(): void;
  /** Called after each later list, when all its changes have been delivered. */
  onReplaced?(): void;
}
