/** Something that is done in steps: after each `yield` there is more to do. `return()` gives it up, and undoes what it has begun. */
export type Yielding<T> = Generator<undefined, T, undefined>;

/** Goes on to the end. */
export function finish<T>(steps: Yielding<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
