const none: ReadonlySet<string> = new Set();

/**
 * What plugins keep between the points of one attempt for one pod. Keys are the plugins' own; by convention
 * `PluginName/what`. `group` is shared by all members of a gang in the same cycle.
 */
export class CycleState {
  readonly group: CycleState | undefined;
  readonly #base: CycleState | undefined;
  // A gang of thousands has a state for each member, and few of them differ.
  #skippedFilters: ReadonlySet<string>;
  #skippedScores: ReadonlySet<string>;
  /** key -> whatever its plugin keeps */
  #values: Map<string, unknown> | undefined;

  constructor(group?: CycleState, base?: CycleState) {
    this.group = group;
    this.#base = base;
    this.#skippedFilters = base === undefined ? none : base.#skippedFilters;
    this.#skippedScores = base === undefined ? none : base.#skippedScores;
  }

  /** The state of another pod of the same kind: it reads what is written here, and keeps to itself what it writes. */
  fork(): CycleState {
    return new CycleState(this.group, this);
  }

  /** Names of Filter plugins that PreFilter told to skip. */
  get skippedFilters(): ReadonlySet<string> {
    return this.#skippedFilters;
  }

  /** Names of Score plugins that PreScore told to skip. */
  get skippedScores(): ReadonlySet<string> {
    return this.#skippedScores;
  }

  skipFilter(plugin: string): void {
    // As a rule its kind has been told already.
    if (!this.#skippedFilters.has(plugin)) this.#skippedFilters = new Set(this.#skippedFilters).add(plugin);
  }

  skipScore(plugin: string): void {
    this.#skippedScores = new Set(this.#skippedScores).add(plugin);
  }

  /** PreScore begins anew. */
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
