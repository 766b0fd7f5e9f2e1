import type { StoredObject } from './stored-object.ts';

/** One write to a collection, as stored in its history and passed to its subscribers. */
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
      /** The last state, with the resource version of the deletion. */
      readonly object: StoredObject;
      readonly previous: StoredObject;
    };

export type ChangeListener = (change: Change) => void;
