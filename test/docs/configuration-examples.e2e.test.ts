import { describe, expect, it } from 'vitest';
import { formatDiagnostic } from '../../src/config/configuration-error.ts';
import { readConfiguration } from '../../src/config/parse-configuration.ts';
import { rendered } from '../chart/rendered-chart.ts';
import { claimBlocks } from './block-claims.ts';

const files = claimBlocks('docs/configuration.md', 'yaml');
const outputs = claimBlocks('docs/configuration.md', 'text');
/** Each example file with the output that the page shows below it. */
const examples = files.map(({ code, line }, index) => {
  const next = files[index + 1]?.line ?? Infinity;
  const output = outputs.find((each) => each.line > line && each.line < next)?.code ?? '';
  return { text: code, output: output.split('\n').filter((each) => each !== '') };
});

describe('The example files in docs/configuration.md', () => {
  it('are seven valid files and one invalid file', () => {
    expect(examples.map(({ output }) => output.length)).toEqual([0, 6, 0, 0, 0, 0, 0, 0]);
  });

  it.each(examples)('produce the output that the page shows: $text', ({ text, output }) => {
    const { problems, warnings } = readConfiguration('scheduler.yaml', text);
    expect(problems.map((problem) => formatDiagnostic(problem))).toEqual(output);
    expect(warnings).toEqual([]);
  });
});

it('the configuration in docs/extenders.md is valid', () => {
  for (const { code } of claimBlocks('docs/extenders.md', 'yaml'))
    expect(readConfiguration('scheduler.yaml', code)).toMatchObject({ problems: [], warnings: [] });
});

it('the chart accepts the values in its README and passes them to the scheduler', async () => {
  for (const { code } of claimBlocks('charts/tutti/README.md', 'yaml')) {
    const objects = await rendered(code);
    expect(JSON.stringify(objects)).toContain('schedulerName: packing');
  }
});
