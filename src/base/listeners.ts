/** A list of functions that are called with every value, in the order of their addition. */
export class Listeners<Arguments extends readonly unknown[]> {
  readonly #listeners: ((...values: Arguments) => void)[] = [];

  add(listener: (...values: Arguments) => void): void {
    this.#listeners.push(listener);
  }

  readonly emit = (...values: Arguments): void => {
    for (const listener of this.#listeners) listener(...values);
  };
}
