/**
 * What plugins keep between the points of one attempt for one pod. Keys are the plugins' own; by convention
 * `PluginName/what`. `group` is shared by all members of a gang in the same cycle.
 */
export class CycleState {
  readonly group: CycleState | undefined;
  /** Names of Filter plugins that PreFilter told to skip. */
  readonly skippedFilters = new Set<string>();
  /** Names of Score plugins that PreScore told to skip. */
  readonly skippedScores = new Set<string>();
  /** key -> whatever its plugin keeps */
  #values: Map<string, unknown> | undefined;

  constructor(group?: CycleState) {
    this.group = group;
  }

  read<T>(key: string): T | undefined {
    return this.#values?.get(key) as T | undefined;
  }

  write(key: string, value: unknown): void {
    (this.#values ??= new Map<string, unknown>()).set(key, value);
  }
}
