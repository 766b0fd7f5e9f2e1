/** A task in steps: it yields between them. `return()` cancels it and rolls back its changes. */
export type Yielding<T> = Generator<undefined, T, undefined>;

/** Runs a task to its end. */
export function finish<T>(steps: Yielding<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
