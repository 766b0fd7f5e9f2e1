import { describe, expect, it } from 'vitest';
import { yamlCommentPassages } from '../../scripts/prose/comment-passages.ts';
import { markdownPassages } from '../../scripts/prose/markdown-passages.ts';
import { measure } from '../../scripts/prose/measure.ts';
import type { Passage } from '../../scripts/prose/passage.ts';
import { sourcePassages } from '../../scripts/prose/source-passages.ts';

const avoided = ['no', 'body'].join('');

function found(passages: readonly Passage[]): readonly string[] {
  return measure(passages).findings.map(({ path, line, kind, text }) => `${path}:${line} ${kind}: ${text}`);
}

describe('The prose check', () => {
  it('finds avoided words in comments, messages and test names of TypeScript files', () => {
    const source = `/** What ${avoided} reads. */\nthrow new Error('the queue asks ${avoided} for help');\n`;
    expect(found(sourcePassages('src/a.ts', source))).toEqual([
      `src/a.ts:1 word: ${avoided}`,
      `src/a.ts:2 word: ${avoided}`,
    ]);
    const test = `it('tells ${avoided} about it', () => {});\n`;
    expect(sourcePassages('src/a.test.ts', test).map(({ area }) => area)).toEqual(['tests']);
    expect(found(sourcePassages('src/a.test.ts', test))).toEqual([`src/a.test.ts:1 word: ${avoided}`]);
  });

  it('finds avoided words in paragraphs, lists and tables of Markdown pages and in YAML comments', () => {
    const page = `# Title\n\n- one\n- for ${avoided}\n\n| a | b |\n| - | - |\n| c | ${avoided} |\n`;
    expect(found(markdownPassages('docs', 'a.md', page))).toHaveLength(2);
    expect(found(yamlCommentPassages('chart', 'a.yaml', `a: 1\n# Helps ${avoided}.\nb: 2\n`))).toEqual([
      `a.yaml:2 word: ${avoided}`,
    ]);
  });

  it('ignores code spans, code blocks and comments for tools', () => {
    const page = `Run \`${avoided}\`.\n\n\`\`\`sh\necho ${avoided}\n\`\`\`\n`;
    expect(found(markdownPassages('docs', 'a.md', page))).toEqual([]);
    expect(found(sourcePassages('src/a.ts', `// eslint-disable-next-line ${avoided} likes\nf();\n`))).toEqual([]);
  });

  it('counts passive verbs, but not words that only look like participles', () => {
    const text = 'The pod is bound. The gang was never started. The light is red. It binds pods.';
    expect(found(markdownPassages('docs', 'a.md', text))).toEqual([
      'a.md:1 passive: is bound',
      'a.md:1 passive: was never started',
    ]);
  });

  it('counts sentences of more than 35 words', () => {
    const words = (count: number): string => `${Array.from({ length: count }, () => 'word').join(' ')}.`;
    expect(found(markdownPassages('docs', 'a.md', words(35)))).toEqual([]);
    expect(found(markdownPassages('docs', 'a.md', words(36)))).toHaveLength(1);
  });
});
