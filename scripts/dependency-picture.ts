import type { IModule } from 'dependency-cruiser';

export interface Cruised {
  readonly modules: readonly IModule[];
  /** Each as `rule: from → to`; a cycle, which is found once, as `rule: from → next → … → from`. */
  readonly violations: readonly string[];
  /** How many imports were looked at. */
  readonly imports: number;
}

interface Row {
  readonly folder: string;
  modules: number;
  /** folder -> how many imports go there */
  readonly imported: Map<string, number>;
}

/**
 * The layers of src/, then the folders of src/scheduler, in a few lines that can be compared between two states of the tree: for each its
 * modules and what it imports from the others, with the number of imports; then the sums. Tests are left out.
 */
export function dependencyPicture({ modules, violations }: Cruised, layers: readonly string[]): string[] {
  const ofSources = rowsOf(modules, 'src', layers);
  const ofScheduler = rowsOf(modules, 'src/scheduler', foldersIn(modules, 'src/scheduler'));
  const total = ofSources.rows.reduce((sum, row) => sum + row.modules, 0);
  const cycles = violations.filter((text) => text.startsWith('no-cycle: ')).length;
  const upward = violations.filter((text) => /^(layer|room)-(?!unknown)/.test(text)).length;
  const named = ofScheduler.rows.filter(({ folder }) => folder !== files);
  const crossing = (rows: readonly Row[], isCounted = (_folder: string) => true): number =>
    rows.reduce((sum, { imported }) => sum + sumOf([...imported].filter(([folder]) => isCounted(folder))), 0);
  return [
    'layer, its modules, and what it imports from other layers (without tests)',
    ...ofSources.rows.map(lineOf),
    `${total} modules, ${ofSources.imports} imports between them, ${cycles} cycles, ${upward} upward imports`,
    'folder of src/scheduler, its modules, and what it imports from the others (without tests)',
    ...ofScheduler.rows.map(lineOf),
    `${crossing(named, (folder) => folder !== files)} imports between the named folders, ${crossing(ofScheduler.rows)} with the files`,
  ];
}

function rowsOf(
  modules: readonly IModule[],
  parent: string,
  folders: readonly string[],
): { readonly rows: readonly Row[]; readonly imports: number } {
  const rows = [...folders, files].map((folder): Row => ({ folder, modules: 0, imported: new Map() }));
  let imports = 0;
  for (const { source, dependencies } of modules) {
    const row = rows.find(({ folder }) => folder === folderOf(source, parent));
    if (row === undefined || /\.test\.ts$|\/testing\//.test(source)) continue;
    row.modules++;
    // A value import and a type import of the same module are one.
    for (const resolved of new Set(dependencies.map((dependency) => dependency.resolved))) {
      const folder = folderOf(resolved, parent);
      if (folder === undefined) continue;
      imports++;
      if (folder !== row.folder) row.imported.set(folder, (row.imported.get(folder) ?? 0) + 1);
    }
  }
  return { rows, imports };
}

function lineOf({ folder, modules, imported }: Row, _index: number, rows: readonly Row[]): string {
  const width = Math.max(...rows.map((row) => row.folder.length));
  const cells = rows.flatMap((row) => (imported.has(row.folder) ? `${row.folder} ${imported.get(row.folder)}` : []));
  return `${folder.padEnd(width)} ${String(modules).padStart(4)}  ${cells.join(', ')}`.trimEnd();
}

function sumOf(counts: readonly (readonly [string, number])[]): number {
  return counts.reduce((sum, [, count]) => sum + count, 0);
}

/** In alphabetical order. */
function foldersIn(modules: readonly IModule[], parent: string): string[] {
  const folders = new Set(modules.map(({ source }) => folderOf(source, parent)));
  return [...folders]
    .filter((folder) => folder !== undefined && folder !== files && folder !== 'testing')
    .sort() as string[];
}

/** The files directly in the parent folder. */
const files = '(files)';

function folderOf(path: string, parent: string): string | undefined {
  if (!path.startsWith(`${parent}/`)) return undefined;
  const [first, ...rest] = path.slice(parent.length + 1).split('/');
  return rest.length === 0 ? files : first;
}
