import { describe, expect, it } from 'vitest';
import { isQualifiedName } from './qualified-name.ts';
import { cpuMsOf } from '../../test/expect/cpu-ms.ts';

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

  it('is recognized quickly for any text', async () => {
    const text = 'a'.repeat(200_000);
    const cpuMs = await cpuMsOf(() => {
      for (const name of [text, `${text}/x`, `${'a-'.repeat(100_000)}/x`]) expect(isQualifiedName(name)).toBe(false);
    });
    expect(cpuMs).toBeLessThan(1_000);
  });
});
