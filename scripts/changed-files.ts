import { execFileSync } from 'node:child_process';

/** The revision that is compared with is not there. */
export class RevisionError extends Error {}

/**
 * The files under `folder`, relative to it and sorted, that differ from `base`, or without one from the last commit, or from the commit before
 * when nothing else does. What is staged, not staged or not tracked counts, and so do deleted files; what is ignored does not.
 *
 * @throws RevisionError when git does not know `base`
 */
export function changedFiles(folder: string, base?: string): string[] {
  const git = (...words: string[]): string[] =>
    execFileSync('git', words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
      .split(/[\0\n]/)
      .filter((line) => line !== '');
  const differing = (revision: string): string[] => git('diff', '--name-only', '--no-renames', '-z', revision);
  const untracked = git('ls-files', '--others', '--exclude-standard', '-z');
  if (base !== undefined) return sorted([...differing(forkPoint(git, base)), ...untracked]);
  const uncommitted = [...differing('HEAD'), ...untracked];
  if (uncommitted.length > 0) return sorted(uncommitted);
  return sorted(git('show', '--first-parent', '--name-only', '--no-renames', '--format=', '-z', 'HEAD'));
}

/** Where the branch left `base`, so that what came to `base` since then is not taken for a change. */
function forkPoint(git: (...words: string[]) => string[], base: string): string {
  try {
    return git('merge-base', '--end-of-options', base, 'HEAD')[0]!;
  } catch (error) {
    throw new RevisionError(`git knows no revision ${base} with a history in common`, { cause: error });
  }
}

function sorted(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort();
}
