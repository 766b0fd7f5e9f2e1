import type { IModule } from 'dependency-cruiser';

export interface Cruised {
  readonly modules: readonly IModule[];
  /** Violations as `rule: from → to`. A cycle is listed once, as `rule: from → next → … → from`. */
  readonly violations: readonly string[];
  /** Number of imports checked. */
  readonly imports: number;
}

/**
 * Summarizes the dependencies in lines that can be compared between revisions. For each layer: the number of modules, and the layers that
 * it imports with the number of imports. Then the totals, cycles and upward imports, also between the folders of the scheduler.
 */
export function dependencyDiagram({ modules, violations }: Cruised, layers: readonly string[]): string[] {
  const rows = [...layers, entry].map((layer) => ({ layer, modules: 0, imported: new Map<string, number>() }));
  let [imports, inScheduler] = [0, 0];
  for (const { source, dependencies } of modules) {
    const row = rows.find(({ layer }) => layer === layerOf(source));
    if (row === undefined || /\.test\.ts$|\/testing\//.test(source)) continue;
    row.modules++;
    // A value import and a type import of the same module count as one.
    for (const resolved of new Set(dependencies.map((dependency) => dependency.resolved))) {
      const layer = layerOf(resolved);
      if (layer === undefined) continue;
      imports++;
      if (areDifferentFolders(schedulerFolderOf(source), schedulerFolderOf(resolved))) inScheduler++;
      if (layer !== row.layer) row.imported.set(layer, (row.imported.get(layer) ?? 0) + 1);
    }
  }
  const width = Math.max(...rows.map(({ layer }) => layer.length));
  const lines = rows.map(({ layer, modules: count, imported }) => {
    const cells = rows.flatMap((other) =>
      imported.has(other.layer) ? `${other.layer} ${imported.get(other.layer)}` : [],
    );
    return `${layer.padEnd(width)} ${String(count).padStart(4)}  ${cells.join(', ')}`.trimEnd();
  });
  const total = rows.reduce((sum, row) => sum + row.modules, 0);
  const cycles = violations.filter((text) => text.startsWith('no-cycle: ')).length;
  const upward = violations.filter((text) => /^(layer|part)-(?!unknown)/.test(text)).length;
  const upwardInScheduler = violations.filter((text) => /^part-scheduler\/[^/:]+\/?: /.test(text)).length;
  return [
    'layer, its modules, and what it imports from other layers (without tests)',
    ...lines,
    `${total} modules, ${imports} imports between them, ${cycles} cycles, ${upward} upward imports`,
    `${inScheduler} imports between the folders of scheduler/, ${upwardInScheduler === 0 ? 'none' : upwardInScheduler} upward`,
  ];
}

/** Row for the files directly in src/. */
const entry = '(entry)';

function layerOf(path: string): string | undefined {
  const parts = path.split('/');
  if (parts[0] !== 'src') return undefined;
  return parts.length === 2 ? entry : parts[1];
}

/** Returns the folder of `src/scheduler/` that contains the file, or undefined for files directly in it. */
function schedulerFolderOf(path: string): string | undefined {
  return /^src\/scheduler\/([^/]+)\//.exec(path)?.[1];
}

function areDifferentFolders(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}
