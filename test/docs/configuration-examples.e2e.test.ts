import { describe, expect, it } from 'vitest';
import { formatRemark } from '../../src/config/configuration-error.ts';
import { readConfiguration } from '../../src/config/parse-configuration.ts';
import { rendered } from '../chart/rendered-chart.ts';
import { claimBlocks } from './block-claims.ts';

const files = claimBlocks('docs/configuration.md', 'yaml');
const reports = claimBlocks('docs/configuration.md', 'text');
/** Each file with the report that the page shows below it. */
const reported = files.map(({ code, line }, index) => {
  const next = files[index + 1]?.line ?? Infinity;
  const report = reports.find((each) => each.line > line && each.line < next)?.code ?? '';
  return { text: code, report: report.split('\n').filter((each) => each !== '') };
});

describe('The files of docs/configuration.md', () => {
  it('are three valid files and an invalid one', () => {
    expect(reported.map(({ report }) => report.length)).toEqual([0, 6, 0, 0]);
  });

  it.each(reported)('lead to the report of the page: $text', ({ text, report }) => {
    const { problems, warnings } = readConfiguration('scheduler.yaml', text);
    expect(problems.map((problem) => formatRemark(problem))).toEqual(report);
    expect(warnings).toEqual([]);
  });
});

it('the configuration of docs/extenders.md is valid', () => {
  for (const { code } of claimBlocks('docs/extenders.md', 'yaml'))
    expect(readConfiguration('scheduler.yaml', code)).toMatchObject({ problems: [], warnings: [] });
});

it('the chart accepts the values of its page and passes them to the scheduler', async () => {
  for (const { code } of claimBlocks('charts/tutti/README.md', 'yaml')) {
    const objects = await rendered(code);
    expect(JSON.stringify(objects)).toContain('schedulerName: packing');
  }
});
