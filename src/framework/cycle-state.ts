const none: ReadonlySet<string> = new Set();

/**
 * Data that plugins share between the extension points of one attempt for one pod. Plugins choose their own keys; by convention
 * `PluginName/what`. All members of a gang share `group` within a cycle.
 */
export class CycleState {
  readonly group: CycleState | undefined;
  readonly #base: CycleState | undefined;
  // A gang of thousands has one state per member, but few differ, so forks share the sets.
  #skippedFilters: ReadonlySet<string>;
  #skippedScores: ReadonlySet<string>;
  /** key -> value that the plugin stored */
  #values: Map<string, unknown> | undefined;

  constructor(group?: CycleState, base?: CycleState) {
    this.group = group;
    this.#base = base;
    this.#skippedFilters = base === undefined ? none : base.#skippedFilters;
    this.#skippedScores = base === undefined ? none : base.#skippedScores;
  }

  /** Returns a state for another pod with the same signature. It reads the values of this state; its own writes stay private. */
  fork(): CycleState {
    return new CycleState(this.group, this);
  }

  /** Names of the Filter plugins to skip, as set by PreFilter. */
  get skippedFilters(): ReadonlySet<string> {
    return this.#skippedFilters;
  }

  /** Names of the Score plugins to skip, as set by PreScore. */
  get skippedScores(): ReadonlySet<string> {
    return this.#skippedScores;
  }

  skipFilter(plugin: string): void {
    // Usually the base state already skips it.
    if (!this.#skippedFilters.has(plugin)) this.#skippedFilters = new Set(this.#skippedFilters).add(plugin);
  }

  skipScore(plugin: string): void {
    this.#skippedScores = new Set(this.#skippedScores).add(plugin);
  }

  /** Clears the skipped Score plugins before PreScore runs again. */
  skipNoScores(): void {
    this.#skippedScores = none;
  }

  read<T>(key: string): T | undefined {
    if (this.#values?.has(key) === true) return this.#values.get(key) as T | undefined;
    return this.#base?.read<T>(key);
  }

  write(key: string, value: unknown): void {
    (this.#values ??= new Map<string, unknown>()).set(key, value);
  }
}
