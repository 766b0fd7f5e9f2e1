import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** `src/queue/` or `src/plugins/<name>/` in backticks; what stands for something else is not looked at. */
const pathInBackticks = /`((?:src|test|bench|docs|scripts|examples)\/[^`\s<]*)(?:<[^`]*)?`/g;
/** `Name` (`path`), `Name.member` (`path`) */
const nameInFile = /`(\w+)(?:\.(\w+))?` \(`([^`]+\.ts)`\)/g;
const pictureBlock = /^```\n(.*?)^```$/gms;
/** Two humps or more: what a picture calls so is one of ours. */
const className = /\b(?:[A-Z][a-z]+){2,}\b/g;

/**
 * What a page of the documentation says of the repository and is not so: paths in backticks, from `root`, that do not exist, and
 * names, written as `Name` (`path`), that are not exported there. Links are linkProblems' business.
 */
export async function pageProblems(root: string, text: string): Promise<string[]> {
  const problems: string[] = [];
  for (const [, path] of text.matchAll(pathInBackticks)) {
    // A file with a slash behind it is none.
    await access(join(root, path!)).catch(() => problems.push(`${path} does not exist`));
  }
  for (const [, name, member, path] of text.matchAll(nameInFile)) {
    const source = await readFile(join(root, path!), 'utf8').catch(() => '');
    if (!exportsName(source, name!)) problems.push(`${path} does not export ${name}`);
    else if (member !== undefined && !declares(source, member)) problems.push(`${path} has no ${name}.${member}`);
  }
  return problems;
}

/** Class names in the pictures of a page (code blocks without a language) that no file of src/ exports. */
export async function unknownClasses(root: string, text: string): Promise<string[]> {
  const names = [...text.matchAll(pictureBlock)].flatMap(([, picture]) => picture!.match(className) ?? []);
  const sources = await sourcesOf(join(root, 'src'));
  return [...new Set(names)].filter((name) => !sources.some((source) => exportsName(source, name)));
}

/** The layers of src/ that a table of the page lists, as `base/` in its first column. */
export function layersAsTold(text: string): string[] {
  return [...text.matchAll(/^\| `(\w+)\/` \|/gm)].map(([, layer]) => layer!);
}

function exportsName(source: string, name: string): boolean {
  return new RegExp(`^export (?:abstract |async )*(?:class|interface|type|const|function\\*?) ${name}\\b`, 'm').test(
    source,
  );
}

/** As a method, an accessor, a property or a field of an interface. */
function declares(source: string, member: string): boolean {
  return new RegExp(`^ {2}(?:readonly |get |async )*${member}[(<:?; ]`, 'm').test(source);
}

async function sourcesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  const files = entries.filter((entry) => entry.endsWith('.ts') && !entry.endsWith('.test.ts'));
  return Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
}
