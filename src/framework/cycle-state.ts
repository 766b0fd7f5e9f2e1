/**
 * What plugins keep between the points of one attempt for one pod. Keys are the plugins' own; by convention
 * `PluginName/what`. `group` is shared by all members of a gang in the same cycle.
 */
export class CycleState {
  readonly group: CycleState | undefined;
  /** Names of Filter plugins that PreFilter told to skip. */
  readonly skippedFilters: Set<string>;
  /** Names of Score plugins that PreScore told to skip. */
  readonly skippedScores: Set<string>;
  readonly #base: CycleState | undefined;
  /** key -> whatever its plugin keeps */
  #values: Map<string, unknown> | undefined;

  constructor(group?: CycleState, base?: CycleState) {
    this.group = group;
    this.#base = base;
    this.skippedFilters = new Set(base?.skippedFilters);
    this.skippedScores = new Set(base?.skippedScores);
  }

  /** The state of another pod of the same kind: it reads what is written here, and keeps to itself what it writes. */
  fork(): CycleState {
    return new CycleState(this.group, this);
  }

  read<T>(key: string): T | undefined {
    if (this.#values?.has(key) === true) return this.#values.get(key) as T | undefined;
    return this.#base?.read<T>(key);
  }

  write(key: string, value: unknown): void {
    (this.#values ??= new Map<string, unknown>()).set(key, value);
  }
}
