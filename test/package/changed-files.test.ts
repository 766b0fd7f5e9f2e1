import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { changedFiles, RevisionError } from '../../scripts/changed-files.ts';

let folder: string;

function git(...words: string[]): void {
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], { cwd: folder });
}

function commit(...names: string[]): void {
  for (const name of names) writeFileSync(join(folder, name), `${name}\n`);
  git('add', '--all');
  git('commit', '--quiet', '--message', names.join(' '));
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tutti-changed-'));
  git('init', '--quiet', '--initial-branch', 'main');
  commit('a', 'b', 'c');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('changedFiles returns the differences from HEAD: staged, unstaged, deleted and untracked files', () => {
  writeFileSync(join(folder, 'a'), 'staged');
  git('add', 'a');
  writeFileSync(join(folder, 'b'), 'not staged');
  rmSync(join(folder, 'c'));
  writeFileSync(join(folder, 'd ä'), 'not tracked');
  expect(changedFiles(folder)).toEqual(['a', 'b', 'c', 'd ä']);
});

it('changedFiles returns the last commit when nothing differs from HEAD, even for the first commit and a merge', () => {
  expect(changedFiles(folder)).toEqual(['a', 'b', 'c']);
  git('switch', '--quiet', '--create', 'side');
  commit('d');
  git('switch', '--quiet', 'main');
  commit('e');
  expect(changedFiles(folder)).toEqual(['e']);
  git('merge', '--quiet', '--no-edit', 'side');
  expect(changedFiles(folder)).toEqual(['d']);
});

it('changedFiles returns the differences from the point where the branch left its base', () => {
  git('switch', '--quiet', '--create', 'side');
  commit('d');
  git('switch', '--quiet', 'main');
  commit('e');
  git('switch', '--quiet', 'side');
  writeFileSync(join(folder, 'f'), 'not tracked');
  expect(changedFiles(folder, 'main')).toEqual(['d', 'f']);
});

it('changedFiles rejects an unknown revision', () => {
  expect(() => changedFiles(folder, 'nope')).toThrow(RevisionError);
  expect(() => changedFiles(folder, '--all')).toThrow(RevisionError);
});
