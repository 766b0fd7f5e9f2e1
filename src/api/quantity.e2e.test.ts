import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { kubectlPath } from '../../test/planes/kubectl.ts';
import { formatQuantity, parseQuantity } from './quantity.ts';
import { quantityText } from './testing/quantity-text.ts';

it('formats quantities as kubectl does', async () => {
  const path = await kubectlPath();
  const texts = fc.sample(quantityText, { numRuns: 200, seed: 7 }).filter((text) => /[0-9]/.test(text));
  const fixed = [
    '0.5',
    '1024Mi',
    '0.0001',
    '1.5Gi',
    '0.1Ki',
    '-0.5Ki',
    '8Ei',
    '0.1n',
    '1.00000000001Ki',
    '1e40',
    '9300000000000000000',
  ];
  const all = [...fixed, ...texts];
  const hard = all.map((text, index) => `requests.example.com/r${index}=${text}`).join(',');
  const { stdout } = await promisify(execFile)(path, [
    ...['create', 'quota', 'q', `--hard=${hard}`, '--dry-run=client', '-o', 'json'],
  ]);
  const written = (JSON.parse(stdout) as { spec: { hard: Record<string, string> } }).spec.hard;
  const pairs = all.map((text, index) => ({ text, theirs: written[`requests.example.com/r${index}`]! }));
  // kubectl echoes some spellings that are not canonical ("1.5G", "+1"), so only rewritten texts are conclusive.
  const rewritten = pairs.filter(({ text, theirs }) => theirs !== text);
  expect(rewritten.length).toBeGreaterThan(60);
  expect(rewritten.map(({ text }) => ({ text, theirs: formatQuantity(parseQuantity(text)) }))).toEqual(rewritten);
});
