import { readFile } from 'node:fs/promises';

/** Code that stands in the documentation, as a reader would copy it. */
export interface DocumentedExample {
  /** The plugin that it defines: its first `const … : OwnPlugin`. */
  readonly name: string;
  readonly code: string;
}

/** The blocks of a Markdown page that are marked as TypeScript. */
export async function examplesInPage(path: string): Promise<DocumentedExample[]> {
  const page = await readFile(path, 'utf8');
  return [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => named(path, code!));
}

/** The example in the first doc comment of a source file: what is indented by four spaces. */
export async function exampleInComment(path: string): Promise<DocumentedExample> {
  const [comment = ''] = /^\/\*\*.*?\*\//ms.exec(await readFile(path, 'utf8')) ?? [];
  const lines = comment.split('\n').map((line) => line.replace(/^ \* ?/, ''));
  const code = lines.filter((line) => line === '' || line.startsWith('    ')).map((line) => line.slice(4));
  return named(path, `${code.join('\n')}\n`);
}

function named(path: string, code: string): DocumentedExample {
  const name = /^const (\w+): OwnPlugin /m.exec(code)?.[1];
  if (name === undefined) throw new Error(`${path} has an example that defines no OwnPlugin:\n${code}`);
  return { name, code };
}
