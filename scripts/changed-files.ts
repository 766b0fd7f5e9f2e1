import { execFileSync } from 'node:child_process';

/** The base revision does not exist. */
export class RevisionError extends Error {}

/**
 * Returns the sorted paths, relative to `folder`, of the files that differ from `base`. Without `base`, compares with the last commit; if
 * nothing differs from it, returns the files of the last commit. Includes staged, unstaged, untracked and deleted files, but not ignored
 * ones.
 *
 * @throws RevisionError if git does not know `base`
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

/** Returns the merge base, so that later commits to `base` do not count as changes. */
function forkPoint(git: (...words: string[]) => string[], base: string): string {
  try {
    return git('merge-base', '--end-of-options', base, 'HEAD')[0]!;
  } catch (error) {
    throw new RevisionError(`git has no revision ${base} with a common history`, { cause: error });
  }
}

function sorted(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort();
}
