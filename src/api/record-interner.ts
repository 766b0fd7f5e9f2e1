import { hashText } from '../base/hash-text.ts';
import { sameLabels } from './same-labels.ts';

type TextRecord = Readonly<Record<string, string>>;

/**
 * Lets equal records, such as labels, share one object while it is reachable. The interner stores no text itself, so a record of a single
 * pod costs little.
 */
export class RecordInterner<T extends TextRecord> {
  /** hash -> record with that hash, weakly referenced; if hashes collide, the first record */
  readonly #known = new Map<number, WeakRef<T>>();
  readonly #collected = new FinalizationRegistry<number>((hash) => {
    if (this.#known.get(hash)?.deref() === undefined) this.#known.delete(hash);
  });

  /** Returns a known record that is equal to this one, or this one. */
  intern(record: T): T {
    const hash = hashOf(record);
    const known = this.#known.get(hash)?.deref();
    if (known !== undefined) return sameLabels(known, record) ? known : record;
    this.#known.set(hash, new WeakRef(record));
    this.#collected.register(record, hash);
    return record;
  }
}

/** Returns a hash that does not depend on the order of the keys. */
function hashOf(record: TextRecord): number {
  let hash = 0;
  for (const key in record) hash = (hash + Math.imul(hashText(key) | 1, hashText(String(record[key])) | 1)) | 0;
  return hash;
}
