import { expect, it } from 'vitest';
import { formatFieldPath } from './field-path.ts';
import type { FieldPath } from './field-path.ts';

it.each<[FieldPath, string]>([
  [[], ''],
  [['scoringStrategy', 'resources', 0, 'weight'], 'scoringStrategy.resources[0].weight'],
  [[0, 1], '[0][1]'],
  [['matchLabels', 'example.com/tier'], 'matchLabels["example.com/tier"]'],
  [['a\nb'], '["a\\nb"]'],
  [['labels', '0'], 'labels["0"]'],
  [['__proto__'], '__proto__'],
])('formats the path %j as %s', (path, text) => {
  expect(formatFieldPath(path)).toBe(text);
});

it('truncates a long name', () => {
  expect(formatFieldPath(['x'.repeat(1_000_000)])).toBe(`["${'x'.repeat(60)}…"]`);
});
