/** A binary heap: `pop` returns the least element by `compare`. The order of equal elements is undefined. */
export class Heap<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #items: T[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#siftUp(this.#items.length - 1, item);
  }

  pop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    this.#siftDown(0, last);
    return top;
  }

  /** Removes one element identical to `item`; O(n). Returns whether it was in the heap. */
  remove(item: T): boolean {
    const items = this.#items;
    const index = items.indexOf(item);
    if (index < 0) return false;
    const last = items.pop()!;
    if (index === items.length) return true;
    items[index] = last;
    this.#siftDown(index, last);
    if (items[index] === last) this.#siftUp(index, last);
    return true;
  }

  /** Drops all elements for which `isKept` is false; O(n). */
  retain(isKept: (item: T) => boolean): void {
    const items = this.#items;
    let size = 0;
    for (const item of items) if (isKept(item)) items[size++] = item;
    items.length = size;
    for (let index = (items.length >> 1) - 1; index >= 0; index--) this.#siftDown(index, items[index]!);
  }

  #siftUp(start: number, item: T): void {
    const items = this.#items;
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (this.#compare(item, items[parent]!) >= 0) break;
      items[index] = items[parent]!;
      index = parent;
    }
    items[index] = item;
  }

  #siftDown(start: number, item: T): void {
    const items = this.#items;
    let index = start;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#compare(items[child + 1]!, items[child]!) < 0) child++;
      if (this.#compare(item, items[child]!) <= 0) break;
      items[index] = items[child]!;
      index = child;
    }
    items[index] = item;
  }
}
