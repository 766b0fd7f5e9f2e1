import { readFile } from 'node:fs/promises';
import type { PageBlock } from './markdown-page.ts';

/** Code in the documentation, as a reader would copy it. */
export interface DocumentedExample {
  /** The plugin that it defines: its first `const … : OwnPlugin`. */
  readonly name: string;
  readonly code: string;
}

/** A complete file in the documentation. */
export interface DocumentedFile {
  /** From its first line: `// my-plugin.ts`. */
  readonly name: string;
  readonly code: string;
}

const fileLine = /^\/\/ (\S+\.ts)\n/;

/** Returns the TypeScript blocks that are not complete files. */
export function examplesIn(blocks: readonly PageBlock[]): DocumentedExample[] {
  return blocks.filter(({ code }) => !fileLine.test(code)).map(({ page, code }) => named(page, code));
}

/** Returns the TypeScript blocks that are complete files. */
export function filesIn(blocks: readonly PageBlock[]): DocumentedFile[] {
  return blocks.flatMap(({ code }) => {
    const name = fileLine.exec(code)?.[1];
    return name === undefined ? [] : [{ name, code }];
  });
}

/** Returns the example in the first doc comment with code of a source file. */
export async function exampleInComment(path: string): Promise<DocumentedExample> {
  return named(path, await codeInComment(path));
}

/** Returns the code, indented by four spaces, in the first doc comment of a source file that has some. */
export async function codeInComment(path: string): Promise<string> {
  for (const [comment] of (await readFile(path, 'utf8')).matchAll(/^\/\*\*.*?\*\//gms)) {
    const lines = comment.split('\n').map((line) => line.replace(/^ \* ?/, ''));
    if (!lines.some((line) => line.startsWith('    '))) continue;
    const code = lines.filter((line) => line === '' || line.startsWith('    ')).map((line) => line.slice(4));
    return `${code.join('\n')}\n`;
  }
  throw new Error(`${path} has no example`);
}

function named(path: string, code: string): DocumentedExample {
  const name = /^const (\w+): OwnPlugin /m.exec(code)?.[1];
  if (name === undefined) throw new Error(`${path} has an example that defines no OwnPlugin:\n${code}`);
  return { name, code };
}
