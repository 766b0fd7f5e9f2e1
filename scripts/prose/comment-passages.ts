import type { Area, Passage } from './passage.ts';

/** Matches the start of comments for tools. */
const directives = /^(eslint|prettier|knip|vitest|@ts-|v8 |c8 |#\/|yaml-language-server|shellcheck)/;

/** Returns a comment of a source file, or consecutive line comments, as one passage. */
export function commentPassage(area: Area, path: string, line: number, comment: string): Passage[] {
  const text = comment
    .replace(/^\/\*+|\*+\/$/g, '')
    .split('\n')
    .map((row) => row.replace(/^\s*(\*|\/\/+|#+)\s?/, '').trim())
    .join('\n')
    .replace(/```[^]*?```/g, ' ')
    .replace(/@\w+/g, ' ')
    .replace(/\{@?link ([^}]*)\}/g, 'code')
    .replace(/`[^`]*`/g, 'code')
    .trim();
  if (text === '' || directives.test(text)) return [];
  return [{ area, path, line, text }];
}

/** Returns the comments of a YAML file. Consecutive lines are one passage. */
export function yamlCommentPassages(area: Area, path: string, source: string): Passage[] {
  const passages: Passage[] = [];
  let first = 0;
  let block: string[] = [];
  const rows = source.split('\n');
  for (const [index, row] of [...rows, ''].entries()) {
    const comment = /^\s*#\s?(?!-{3})(.*)$/.exec(row)?.[1];
    if (comment !== undefined && comment !== '') {
      if (block.length === 0) first = index + 1;
      block.push(comment);
    } else if (block.length > 0) {
      passages.push(...commentPassage(area, path, first, block.join('\n')));
      block = [];
    }
  }
  return passages;
}
