/** Reads the keys of a filter: `/` begins to type it, Enter ends typing, and Escape clears the filter. */
export class FilterKeys {
  #text = '';
  #isTyping = false;

  /** The current filter, also while the user types. Empty: none. */
  get text(): string {
    return this.#text;
  }

  /** Help for the keys that have an effect now. */
  get help(): string {
    if (this.#isTyping) return `/${this.#text}_   Enter keep, Esc clear`;
    return this.#text === '' ? '/ filter, q quit' : `filter: ${this.#text}   / change, Esc clear, q quit`;
  }

  /** Takes what the terminal sent. Returns false if the keys do not concern the filter. */
  press(keys: string): boolean {
    if (keys === escape) return this.#clear();
    // Arrow keys and the like.
    if (keys.startsWith(escape)) return this.#isTyping;
    if (!this.#isTyping) {
      if (!keys.startsWith('/')) return false;
      this.#isTyping = true;
      this.#text = '';
      this.#type(keys.slice(1));
      return true;
    }
    this.#type(keys);
    return true;
  }

  #clear(): boolean {
    const hadFilter = this.#isTyping || this.#text !== '';
    this.#isTyping = false;
    this.#text = '';
    return hadFilter;
  }

  /** Several keys can arrive together, such as pasted text. */
  #type(keys: string): void {
    for (const key of keys) {
      if (key === '\r' || key === '\n') {
        this.#isTyping = false;
        return;
      }
      if (key === '\u007f' || key === '\b') this.#text = [...this.#text].slice(0, -1).join('');
      else if (printable.test(key)) this.#text += key;
    }
  }
}

const escape = '\u001b';
const printable = /^[^\p{C}]$/u;
