import { hashText } from '../base/hash-text.ts';
import { sameLabels } from './same-labels.ts';

type Labels = Readonly<Record<string, string>>;

/**
 * Lets objects with equal labels share one labels object while it is reachable. The interner stores no text itself, so labels of a single
 * pod cost little.
 */
export class LabelInterner {
  /** hash -> labels with that hash, weakly referenced; if hashes collide, the first labels */
  readonly #known = new Map<number, WeakRef<Labels>>();
  readonly #collected = new FinalizationRegistry<number>((hash) => {
    if (this.#known.get(hash)?.deref() === undefined) this.#known.delete(hash);
  });

  /** Returns known labels that are equal to these, or these labels. */
  intern(labels: Labels): Labels {
    const hash = hashOf(labels);
    const known = this.#known.get(hash)?.deref();
    if (known !== undefined) return sameLabels(known, labels) ? known : labels;
    this.#known.set(hash, new WeakRef(labels));
    this.#collected.register(labels, hash);
    return labels;
  }
}

/** Returns a hash that does not depend on the order of the keys. */
function hashOf(labels: Labels): number {
  let hash = 0;
  for (const key in labels) hash = (hash + Math.imul(hashText(key) | 1, hashText(String(labels[key])) | 1)) | 0;
  return hash;
}
