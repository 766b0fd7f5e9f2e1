import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Buffer } from 'node:buffer';
import type { Mutation } from './mutation.ts';

const sources = new URL('../../src/', import.meta.url);

export class MutationError extends Error {
  override readonly name = 'MutationError';
}

/**
 * Applies the defect to every module that this thread loads from now on; files on disk do not change. Throws MutationError unless each
 * piece of source occurs exactly once: the code has changed, and the defect must be described again.
 */
export function spoil(mutation: Mutation): { assertApplied(): void } {
  const pieces = [mutation, ...(mutation.and ?? [])];
  const left = new Set(pieces);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const here = pieces.filter(({ file }) => url === new URL(file, sources).href);
      if (here.length === 0) return loaded;
      let source = Buffer.from(loaded.source as Uint8Array).toString('utf8');
      for (const piece of here) {
        source = replaceOnce(source, piece, fileURLToPath(url), mutation.name);
        left.delete(piece);
      }
      return { ...loaded, source };
    },
  });
  return {
    assertApplied() {
      const [first] = left;
      if (first !== undefined)
        throw new MutationError(`${mutation.name}: the simulation does not load src/${first.file}`);
    },
  };
}

/** Returns the source with the piece replaced. */
export function replaceOnce(
  source: string,
  { find, replace }: Pick<Mutation, 'find' | 'replace'>,
  path: string,
  name: string,
): string {
  const count = source.split(find).length - 1;
  if (count !== 1) {
    throw new MutationError(`${name}: ${path} contains this ${count} times, not once; update the defect:\n${find}`);
  }
  return source.replace(find, () => replace);
}
