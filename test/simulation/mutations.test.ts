import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mutations } from './mutations.ts';
import { MutationError, replaceOnce } from './spoil.ts';
import { tryMutation } from './try-mutations.ts';

const minute = 60_000;

describe('Mutation', () => {
  it.each(mutations.map((mutation) => [mutation.name, mutation] as const))(
    '"%s" matches the current source exactly once',
    (name, mutation) => {
      for (const piece of [mutation, ...(mutation.and ?? [])]) {
        const path = new URL(`../../src/${piece.file}`, import.meta.url);
        expect(() => replaceOnce(readFileSync(path, 'utf8'), piece, piece.file, name)).not.toThrow();
      }
    },
  );

  it('fails when its piece of source is missing or occurs twice', () => {
    const piece = { find: 'a();', replace: '' };
    expect(replaceOnce('x a(); y', piece, 'f.ts', 'no-a')).toBe('x  y');
    expect(() => replaceOnce('b();', piece, 'f.ts', 'no-a')).toThrow(MutationError);
    expect(() => replaceOnce('a(); a();', piece, 'f.ts', 'no-a')).toThrow('contains this 2 times');
  });

  it('has a unique name, and there are at least twenty', () => {
    expect(new Set(mutations.map(({ name }) => name)).size).toBe(mutations.length);
    expect(mutations.length).toBeGreaterThanOrEqual(20);
  });

  it.each(mutations.filter(({ test }) => test !== undefined).map((mutation) => [mutation.name, mutation] as const))(
    '"%s" is caught by its test',
    async (_name, mutation) => {
      const { caught } = await tryMutation(mutation, 1);
      expect(caught).toBeDefined();
    },
    10 * minute,
  );

  it('names either seeds or a test', () => {
    for (const { name, within, test } of mutations)
      expect([name, within === undefined]).toEqual([name, test !== undefined]);
  });

  it.each(['bind-before-quorum', 'forget-unreserve', 'verdict-for-the-first-only'])(
    '"%s" is caught within its seeds',
    async (name) => {
      const mutation = mutations.find((each) => each.name === name)!;
      const { caught } = await tryMutation(mutation, 2);
      expect(caught).toBeDefined();
    },
    10 * minute,
  );
});
