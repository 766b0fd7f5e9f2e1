import { hashText } from '../base/hash-text.ts';
import { sameLabels } from './same-labels.ts';

type Labels = Readonly<Record<string, string>>;

/**
 * Lets objects with equal labels share them for as long as somebody holds them. It keeps no text of its own, so that labels which are
 * one pod's alone cost little.
 */
export class LabelInterner {
  /** hash -> labels with that hash, while they live; of two that clash the first */
  readonly #known = new Map<number, WeakRef<Labels>>();
  readonly #collected = new FinalizationRegistry<number>((hash) => {
    if (this.#known.get(hash)?.deref() === undefined) this.#known.delete(hash);
  });

  /** Labels equal to these; these where there are none. */
  intern(labels: Labels): Labels {
    const hash = hashOf(labels);
    const known = this.#known.get(hash)?.deref();
    if (known !== undefined) return sameLabels(known, labels) ? known : labels;
    this.#known.set(hash, new WeakRef(labels));
    this.#collected.register(labels, hash);
    return labels;
  }
}

/** The same whatever the order of the keys. */
function hashOf(labels: Labels): number {
  let hash = 0;
  for (const key in labels) hash = (hash + Math.imul(hashText(key) | 1, hashText(String(labels[key])) | 1)) | 0;
  return hash;
}
