import { describe, expect, it } from 'vitest';
import { isQualifiedName } from './qualified-name.ts';

describe('a qualified name', () => {
  it.each(['app', 'a', 'A_b.c-1', 'example.com/gpu', 'a/B', 'a-b.c/x', `${'a'.repeat(253)}/x`, 'x'.repeat(63)])(
    'is %s',
    (name) => expect(isQualifiedName(name)).toBe(true),
  );

  it.each([
    ...[
      '',
      '/',
      'a/',
      '/a',
      'a/b/c',
      'a b',
      '-a',
      'a-',
      '.a',
      'Example.com/x',
      'e..x/y',
      'e.-x/y',
      'e-.x/y',
      '.e/y',
      'a\n',
    ],
    ...[`${'a'.repeat(254)}/x`, 'x'.repeat(64)],
  ])('is not %j', (name) => expect(isQualifiedName(name)).toBe(false));

  it('is told quickly, whatever the text is', () => {
    const text = 'a'.repeat(200_000);
    const before = performance.now();
    expect([isQualifiedName(text), isQualifiedName(`${text}/x`), isQualifiedName(`${'a-'.repeat(100_000)}/x`)]).toEqual(
      [false, false, false],
    );
    expect(performance.now() - before).toBeLessThan(1_000);
  });
});
