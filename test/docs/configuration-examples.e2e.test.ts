import { describe, expect, it } from 'vitest';
import { formatRemark } from '../../src/config/configuration-error.ts';
import { readConfiguration } from '../../src/config/parse-configuration.ts';
import { rendered } from '../chart/rendered-chart.ts';
import { claimBlocks } from './block-claims.ts';

const files = claimBlocks('docs/configuration.md', 'yaml');
const reports = claimBlocks('docs/configuration.md', 'text');
/** Each file, and the report that the page shows below it. */
const reported = files.map(({ code, line }, index) => {
  const next = files[index + 1]?.line ?? Infinity;
  const report = reports.find((each) => each.line > line && each.line < next)?.code ?? '';
  return { text: code, report: report.split('\n').filter((each) => each !== '') };
});

describe('the files of docs/configuration.md', () => {
  it('are some that are right and one that is wrong', () => {
    expect(reported.map(({ report }) => report.length)).toEqual([0, 6, 0, 0]);
  });

  it.each(reported)('are said to be what the page says: $text', ({ text, report }) => {
    const { problems, warnings } = readConfiguration('scheduler.yaml', text);
    expect(problems.map((problem) => formatRemark(problem))).toEqual(report);
    expect(warnings).toEqual([]);
  });
});

it('the configuration of docs/extenders.md is right', () => {
  for (const { code } of claimBlocks('docs/extenders.md', 'yaml'))
    expect(readConfiguration('scheduler.yaml', code)).toMatchObject({ problems: [], warnings: [] });
});

it('the chart takes the values of its page, and gives the scheduler what they say', async () => {
  for (const { code } of claimBlocks('charts/tutti/README.md', 'yaml')) {
    const objects = await rendered(code);
    expect(JSON.stringify(objects)).toContain('schedulerName: packing');
  }
});
