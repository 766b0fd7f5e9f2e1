import MarkdownIt from 'markdown-it';
import type { Area, Passage } from './passage.ts';

type Token = ReturnType<InstanceType<typeof MarkdownIt>['parse']>[number];

const parser = new MarkdownIt({ html: true });

/** Returns every paragraph, heading, list item and table cell of a Markdown page, without code blocks and HTML. */
export function markdownPassages(area: Area, path: string, page: string): Passage[] {
  const passages: Passage[] = [];
  let line = 1;
  for (const token of parser.parse(page, {})) {
    if (token.map !== null) line = token.map[0] + 1;
    if (token.type !== 'inline') continue;
    const text = plainText(token.children ?? []);
    if (text.trim() !== '') passages.push({ area, path, line, text });
  }
  return passages;
}

function plainText(tokens: readonly Token[]): string {
  return tokens
    .map(({ type, content }) => {
      if (type === 'text') return content;
      if (type === 'code_inline') return 'code';
      return type === 'softbreak' || type === 'hardbreak' ? ' ' : '';
    })
    .join('');
}
