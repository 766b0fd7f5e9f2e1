import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** `src/queue/` or `src/plugins/<name>/` in backticks; stops at a placeholder. */
const pathInBackticks = /`((?:src|test|bench|docs|scripts|examples)\/[^`\s<]*)(?:<[^`]*)?`/g;
/** `Name` (`path`), `Name.member` (`path`) */
const nameInFile = /`(\w+)(?:\.(\w+))?` \(`([^`]+\.ts)`\)/g;
const drawingBlock = /^```\n(.*?)^```$/gms;
/** Words with at least two humps: class names in drawings. */
const className = /\b(?:[A-Z][a-z]+){2,}\b/g;

/**
 * Returns wrong references of a documentation page: paths in backticks, relative to `root`, that do not exist, and names, written as `Name`
 * (`path`), that the file does not export. linkProblems checks links.
 */
export async function pageProblems(root: string, text: string): Promise<string[]> {
  const problems: string[] = [];
  for (const [, path] of text.matchAll(pathInBackticks)) {
    // A file path with a trailing slash does not exist either.
    await access(join(root, path!)).catch(() => problems.push(`${path} does not exist`));
  }
  for (const [, name, member, path] of text.matchAll(nameInFile)) {
    const source = await readFile(join(root, path!), 'utf8').catch(() => '');
    if (!exportsName(source, name!)) problems.push(`${path} does not export ${name}`);
    else if (member !== undefined && !declares(source, member)) problems.push(`${path} has no ${name}.${member}`);
  }
  return problems;
}

/** Returns class names in the drawings of a page (code blocks without a language) that no file of src/ exports. */
export async function unknownClasses(root: string, text: string): Promise<string[]> {
  const names = [...text.matchAll(drawingBlock)].flatMap(([, picture]) => picture!.match(className) ?? []);
  const sources = await sourcesOf(join(root, 'src'));
  return [...new Set(names)].filter((name) => !sources.some((source) => exportsName(source, name)));
}

/** Returns the layers of src/ that a table of the page lists, as `base/` in its first column. */
export function layersInTable(text: string): string[] {
  return [...text.matchAll(/^\| `(\w+)\/` \|/gm)].map(([, layer]) => layer!);
}

function exportsName(source: string, name: string): boolean {
  return new RegExp(`^export (?:abstract |async )*(?:class|interface|type|const|function\\*?) ${name}\\b`, 'm').test(
    source,
  );
}

/** Reports whether the source declares a method, accessor, property or interface field of that name. */
function declares(source: string, member: string): boolean {
  return new RegExp(`^ {2}(?:readonly |get |async )*${member}[(<:?; ]`, 'm').test(source);
}

async function sourcesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  const files = entries.filter((entry) => entry.endsWith('.ts') && !entry.endsWith('.test.ts'));
  return Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
}
