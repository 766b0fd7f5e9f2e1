// Counts lines of code per folder of src/, without tests, blank lines, comment lines and imports.
// `node scripts/count-lines.ts [folder …]` counts other folders; `--depth 2` goes one level deeper.
import { existsSync, readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { parseArgs } from 'node:util';
import ts from 'typescript';

function reject(problem: string): never {
  console.error(`${problem}\nusage: node scripts/count-lines.ts [--depth N] [FOLDER …]`);
  process.exit(2);
}

function readArguments(): { readonly folders: readonly string[]; readonly depth: number } {
  let parsed;
  try {
    parsed = parseArgs({ options: { depth: { type: 'string', default: '1' } }, allowPositionals: true });
  } catch (error) {
    return reject((error as Error).message);
  }
  const depth = Number(parsed.values.depth);
  if (!Number.isInteger(depth) || depth < 1) reject(`--depth must be a positive integer (got ${parsed.values.depth})`);
  const folders = parsed.positionals.length > 0 ? parsed.positionals : ['src'];
  for (const folder of folders) {
    if (!existsSync(folder)) reject(`${folder} does not exist`);
  }
  return { folders, depth };
}

const { folders, depth } = readArguments();

/** Returns the number of lines with a token outside import declarations. */
function linesOfCode(path: string): number {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    const children = node.getChildren(file);
    if (children.length > 0) return children.forEach(visit);
    if (node.kind === ts.SyntaxKind.EndOfFileToken || ts.isJSDoc(node)) return;
    const first = file.getLineAndCharacterOfPosition(node.getStart(file)).line;
    const last = file.getLineAndCharacterOfPosition(node.getEnd()).line;
    for (let line = first; line <= last; line++) lines.add(line);
  };
  visit(file);
  return lines.size;
}

const { status, stdout, stderr } = spawnSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...folders],
  { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
);
if (status !== 0) reject(stderr.trim());
const paths = stdout
  .split('\0')
  // git still lists deleted files until the deletion is committed.
  .filter(
    (path) => existsSync(path) && path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes('/testing/'),
  );
/** folder -> lines of code and files in it */
const counts = new Map<string, { lines: number; files: number }>();
let total = 0;
for (const path of new Set(paths)) {
  const parts = path.split('/').slice(0, -1);
  const folder = parts.slice(0, depth + 1).join('/');
  const count = counts.get(folder) ?? { lines: 0, files: 0 };
  const lines = linesOfCode(path);
  counts.set(folder, { lines: count.lines + lines, files: count.files + 1 });
  total += lines;
}
const width = Math.max(5, ...[...counts.keys()].map((folder) => folder.length));
for (const [folder, { lines, files }] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(`${folder.padEnd(width)} ${String(lines).padStart(6)} lines ${String(files).padStart(4)} files`);
}
console.log(`${'total'.padEnd(width)} ${String(total).padStart(6)} lines`);
