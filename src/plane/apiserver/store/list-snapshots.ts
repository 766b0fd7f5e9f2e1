import type { Clock } from '../../../base/clock.ts';
import type { StoredObject } from './stored-object.ts';

/** The rest of a list that a client reads page by page, as it was when the first page was read. */
export interface ListSnapshot {
  readonly resourceVersion: number;
  readonly objects: readonly StoredObject[];
  /** What was listed and how it was selected: a token is good for that only. */
  readonly scope: string;
}

export interface ListSnapshotsOptions {
  readonly clock: Clock;
  /** Snapshots are kept this long after the first page. */
  readonly lifetimeMs: number;
  /** At most this many are kept; the oldest goes first. */
  readonly limit: number;
  /** About how many bytes of memory their objects may hold together; the oldest goes first, the newest never. */
  readonly limitBytes: number;
}

/** Keeps the snapshots that continue tokens point into. */
export class ListSnapshots {
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  readonly #limit: number;
  readonly #limitBytes: number;
  /** snapshot id -> snapshot, its size and the monotonic time it ends at; in the order they were made */
  readonly #snapshots = new Map<
    number,
    { readonly snapshot: ListSnapshot; readonly bytes: number; readonly endsAt: number }
  >();
  #bytes = 0;
  #nextId = 1;

  constructor(options: ListSnapshotsOptions) {
    this.#clock = options.clock;
    this.#lifetimeMs = options.lifetimeMs;
    this.#limit = options.limit;
    this.#limitBytes = options.limitBytes;
  }

  /** Keeps a snapshot and returns the id that tokens carry. */
  add(snapshot: ListSnapshot): number {
    this.#dropExpired();
    const id = this.#nextId++;
    const bytes = snapshot.objects.reduce((sum, object) => sum + object.bytes, 0);
    this.#snapshots.set(id, { snapshot, bytes, endsAt: this.#clock.monotonic() + this.#lifetimeMs });
    this.#bytes += bytes;
    for (const oldest of this.#snapshots.keys()) {
      const fits = this.#snapshots.size <= this.#limit && this.#bytes <= this.#limitBytes;
      if (fits || oldest === id) break;
      this.#drop(oldest);
    }
    return id;
  }

  /** The snapshot, or undefined when it has expired. */
  get(id: number): ListSnapshot | undefined {
    this.#dropExpired();
    return this.#snapshots.get(id)?.snapshot;
  }

  #dropExpired(): void {
    const now = this.#clock.monotonic();
    for (const [id, { endsAt }] of this.#snapshots) {
      if (endsAt > now) return;
      this.#drop(id);
    }
  }

  #drop(id: number): void {
    this.#bytes -= this.#snapshots.get(id)?.bytes ?? 0;
    this.#snapshots.delete(id);
  }
}

interface ContinueToken {
  readonly snapshot: number;
  readonly offset: number;
  readonly resourceVersion: number;
}

export function encodeContinueToken(token: ContinueToken): string {
  return btoa(JSON.stringify([token.snapshot, token.offset, token.resourceVersion])).replace(/=+$/, '');
}

/** Undefined when the text is not a token of ours. */
export function decodeContinueToken(text: string): ContinueToken | undefined {
  try {
    const parts: unknown = JSON.parse(atob(text));
    if (!Array.isArray(parts) || !parts.every((part) => Number.isSafeInteger(part))) return undefined;
    const [snapshot, offset, resourceVersion] = parts as number[];
    if (snapshot === undefined || offset === undefined || resourceVersion === undefined) return undefined;
    return { snapshot, offset, resourceVersion };
  } catch {
    return undefined;
  }
}
