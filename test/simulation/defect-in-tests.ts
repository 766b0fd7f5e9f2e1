import process from 'node:process';
import { mutations } from './mutations.ts';
import { replaceOnce } from './spoil.ts';

/** Names the defect with which Vitest runs the tests, for the defects that a test has to catch. */
export const defectVariable = 'TUTTI_DEFECT';

/** The Vite plugin that puts the defect into the sources that tests load; undefined: none is named. */
export function defectInTests():
  | { readonly name: string; readonly enforce: 'pre'; transform(code: string, id: string): string | undefined }
  | undefined {
  const mutation = mutations.find(({ name }) => name === process.env[defectVariable]);
  if (mutation === undefined) return undefined;
  const sources = new URL('../../src/', import.meta.url).pathname;
  return {
    name: 'defect-in-tests',
    enforce: 'pre',
    transform: (code, id) => {
      const pieces = [mutation, ...(mutation.and ?? [])].filter(({ file }) => id === `${sources}${file}`);
      if (pieces.length === 0) return undefined;
      return pieces.reduce((source, piece) => replaceOnce(source, piece, id, mutation.name), code);
    },
  };
}
