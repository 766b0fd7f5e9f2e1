/** Maximum number of steps that one check of an object takes. A step costs about 100 ns. */
const maxSteps = 500_000;

/** Checking an object against a schema takes too many steps. */
export class StepLimitError extends Error {
  override readonly name = 'StepLimitError';

  constructor() {
    super(`checking the object takes more than ${maxSteps} steps; use a smaller object or a simpler schema`);
  }
}

/**
 * Counts the steps of one check. The cost of a check can be the product of the sizes of its parts, such as an object, a schema, a
 * pattern and a default. Code that multiplies sizes counts its steps before it takes them.
 */
export class StepLimit {
  #left = maxSteps;

  /** Throws StepLimitError if the check exceeds the limit. */
  count(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new StepLimitError();
  }
}
