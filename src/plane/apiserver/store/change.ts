import type { StoredObject } from './stored-object.ts';

/** One write to a collection, as history keeps it and subscribers get it. */
export type Change =
  | { readonly type: 'ADDED'; readonly resourceVersion: number; readonly object: StoredObject }
  | {
      readonly type: 'MODIFIED';
      readonly resourceVersion: number;
      readonly object: StoredObject;
      readonly previous: StoredObject;
    }
  | {
      readonly type: 'DELETED';
      readonly resourceVersion: number;
      /** The last state, carrying the resource version of the deletion. */
      readonly object: StoredObject;
      readonly previous: StoredObject;
    };

export type ChangeListener = (change: Change) => void;
