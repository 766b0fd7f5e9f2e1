import { readFile } from 'node:fs/promises';

/** Code that stands in the documentation, as a reader would copy it. */
export interface DocumentedExample {
  /** The plugin that it defines: its first `const … : OwnPlugin`. */
  readonly name: string;
  readonly code: string;
}

/** A whole file that stands in the documentation. */
export interface DocumentedFile {
  /** As its first line says: `// my-plugin.ts`. */
  readonly name: string;
  readonly code: string;
}

const fileLine = /^\/\/ (\S+\.ts)\n/;

/** The blocks of a Markdown page that are marked as TypeScript and are not whole files. */
export async function examplesInPage(path: string): Promise<DocumentedExample[]> {
  return (await blocksIn(path)).filter((code) => !fileLine.test(code)).map((code) => named(path, code));
}

/** The blocks of a Markdown page that are whole files. */
export async function filesInPage(path: string): Promise<DocumentedFile[]> {
  return (await blocksIn(path)).flatMap((code) => {
    const name = fileLine.exec(code)?.[1];
    return name === undefined ? [] : [{ name, code }];
  });
}

/** The example in the first doc comment of a source file that has one. */
export async function exampleInComment(path: string): Promise<DocumentedExample> {
  return named(path, await codeInComment(path));
}

/** What is indented by four spaces in the first doc comment of a source file that has code. */
export async function codeInComment(path: string): Promise<string> {
  for (const [comment] of (await readFile(path, 'utf8')).matchAll(/^\/\*\*.*?\*\//gms)) {
    const lines = comment.split('\n').map((line) => line.replace(/^ \* ?/, ''));
    if (!lines.some((line) => line.startsWith('    '))) continue;
    const code = lines.filter((line) => line === '' || line.startsWith('    ')).map((line) => line.slice(4));
    return `${code.join('\n')}\n`;
  }
  throw new Error(`${path} has no example`);
}

async function blocksIn(path: string): Promise<string[]> {
  const page = await readFile(path, 'utf8');
  return [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!);
}

function named(path: string, code: string): DocumentedExample {
  const name = /^const (\w+): OwnPlugin /m.exec(code)?.[1];
  if (name === undefined) throw new Error(`${path} has an example that defines no OwnPlugin:\n${code}`);
  return { name, code };
}
