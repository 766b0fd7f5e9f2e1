import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { formatRemark } from '../../src/config/configuration-error.ts';
import { readConfiguration } from '../../src/config/parse-configuration.ts';

const page = await readFile('docs/configuration.md', 'utf8');
/** Each file, and the report that the page shows of it. */
const files = [...page.matchAll(/^```yaml\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?/gms)].map(
  ([, text, report = '']) => ({
    text: text!,
    report: report.split('\n').filter((line) => line !== ''),
  }),
);

describe('the files of docs/configuration.md', () => {
  it('are some that are right and one that is wrong', () => {
    expect(files.map(({ report }) => report.length)).toEqual([0, 6, 0, 0]);
  });

  it.each(files)('are said to be what the page says: $text', ({ text, report }) => {
    const { problems, warnings } = readConfiguration('scheduler.yaml', text);
    expect(problems.map((problem) => formatRemark(problem))).toEqual(report);
    expect(warnings).toEqual([]);
  });
});
