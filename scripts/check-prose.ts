// Measures the prose that people read. Avoided words must not appear anywhere; docs/ has limits for passive voice and long sentences.
// `node scripts/check-prose.ts PATH…` lists every finding in these files; `--figures` prints only the table.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { allowList } from './prose/allow-list.ts';
import { commentPassage, yamlCommentPassages } from './prose/comment-passages.ts';
import { limits } from './prose/limits.ts';
import { markdownPassages } from './prose/markdown-passages.ts';
import { measure } from './prose/measure.ts';
import type { Figures, Finding } from './prose/measure.ts';
import { areas } from './prose/passage.ts';
import type { Passage } from './prose/passage.ts';
import { sourcePassages } from './prose/source-passages.ts';

const { values, positionals } = parseArgs({ options: { figures: { type: 'boolean' } }, allowPositionals: true });

const paths = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => !path.startsWith('test/fixtures/'));

function passagesOf(path: string): Passage[] {
  const read = (): string => readFileSync(path, 'utf8');
  if (path === 'CHANGELOG.md') return markdownPassages('changelog', path, read());
  if (path.endsWith('.md')) return markdownPassages('docs', path, read());
  if (path.startsWith('charts/') && path.endsWith('.txt')) return commentPassage('chart', path, 1, read());
  if (path.startsWith('charts/') && /\.(yaml|yml|tpl)$/.test(path)) return yamlCommentPassages('chart', path, read());
  if (path.endsWith('.ts')) return sourcePassages(path, read());
  return [];
}

/** Returns whether the finding is in the allow-list. */
function isAllowed({ path, text }: Finding): boolean {
  return allowList.some((allowed) => allowed.path === path && allowed.text.toLowerCase() === text.toLowerCase());
}

const perThousand = (count: number, of: number): string => ((1000 * count) / Math.max(1, of)).toFixed(1);
const countOf = ({ findings }: Figures, kind: Finding['kind']): number =>
  findings.filter((finding) => finding.kind === kind).length;

if (positionals.length > 0) {
  const unknown = positionals.filter((path) => !paths.includes(path));
  if (unknown.length > 0) {
    console.error(`not a file of the repository: ${unknown.join(', ')}; use paths relative to the repository`);
    process.exit(2);
  }
  const figures = measure(positionals.flatMap(passagesOf));
  for (const { path, line, kind, text } of figures.findings) console.log(`${path}:${line}: ${kind}: ${text}`);
  console.log(
    `${figures.words} words, ${countOf(figures, 'word')} avoided words, ${perThousand(countOf(figures, 'passive'), figures.words)} passive verbs per 1,000 words, ${countOf(figures, 'long sentence')} of ${figures.sentences} sentences over 35 words`,
  );
} else {
  const passages = paths.flatMap(passagesOf);
  console.log('area        words  avoided words  passive per 1,000 words  sentences over 35 words');
  for (const area of areas) {
    const figures = measure(passages.filter((passage) => passage.area === area));
    const words = figures.findings.filter((finding) => finding.kind === 'word' && !isAllowed(finding));
    const passive = countOf(figures, 'passive');
    const long = countOf(figures, 'long sentence');
    const longShare = (100 * long) / Math.max(1, figures.sentences);
    console.log(
      [
        area.padEnd(9),
        String(figures.words).padStart(7),
        String(words.length).padStart(14),
        perThousand(passive, figures.words).padStart(24),
        `${longShare.toFixed(1)} %`.padStart(24),
      ].join(' '),
    );
    if (values.figures === true) continue;
    for (const { path, line, text } of words) {
      console.error(`${path}:${line}: avoid "${text}": name the component that acts`);
      process.exitCode = 1;
    }
    const limit = limits[area];
    if (limit === undefined) continue;
    if ((1000 * passive) / Math.max(1, figures.words) > limit.passive || longShare > limit.long) {
      console.error(
        `${area}: at most ${limit.passive} passive verbs per 1,000 words and ${limit.long} % of sentences over 35 words`,
      );
      process.exitCode = 1;
    }
  }
  for (const { path, text, reason } of allowList) {
    if (reason.trim() !== '') continue;
    console.error(`the allow-list has no reason for "${text}" in ${path}`);
    process.exitCode = 1;
  }
}
