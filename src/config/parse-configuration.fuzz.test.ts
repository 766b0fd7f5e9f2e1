import { expect, it } from 'vitest';
import { cpuMsOf } from '../../test/expect/cpu-ms.ts';
import { ConfigurationError } from './configuration-error.ts';
import { parseConfiguration } from './parse-configuration.ts';
import { header } from './testing/diagnostics-of.ts';

it('rejects a configuration of five million characters quickly', async () => {
  const cpuMs = await cpuMsOf(() => {
    expect(() => parseConfiguration('f.yaml', `${header}${'#'.repeat(5_000_000)}`)).toThrow(ConfigurationError);
  });
  expect(cpuMs).toBeLessThan(5_000);
});

it('reads a configuration of a megabyte', () => {
  const profile = (index: number): string =>
    `- schedulerName: scheduler-${index}\n  plugins:\n    score:\n      enabled:\n      - name: NodeResourcesFit\n        weight: 5\n      disabled:\n      - name: NodeAffinity\n`;
  const text = `${header}profiles:\n${Array.from({ length: 6_500 }, (_, index) => profile(index)).join('')}`;
  expect(text.length).toBeGreaterThan(1_000_000);
  expect(parseConfiguration('f.yaml', text).configuration.profiles).toHaveLength(6_500);
});

it('reports the first fifty of thousands of problems, and keeps all in the error', () => {
  const text = header + Array.from({ length: 20_000 }, (_, index) => `unknown${index}: 1\n`).join('');
  expect(() => parseConfiguration('f.yaml', text)).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/and 19950 more problems$/),
      problems: expect.objectContaining({ length: 20_000 }),
    }),
  );
});
