import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packedManifest } from '../../scripts/packed-manifest.ts';

const json = readFileSync('package.json', 'utf8');

describe('The published package.json', () => {
  const published = packedManifest(json);

  it('makes npm install and run nothing', () => {
    const fields = Object.keys(published);
    expect(fields.filter((field) => /dependencies|scripts|overrides/i.test(field))).toEqual([]);
    expect(published).not.toHaveProperty('private');
  });

  it('exports only built files', () => {
    expect(Object.keys(published.exports)).toEqual(['.', './testing', './package.json']);
    expect(JSON.stringify(published.exports)).not.toContain('src/');
  });

  it('equals that of the repository otherwise', () => {
    expect(JSON.parse(json)).toMatchObject(published);
    expect(Object.keys(published)).toEqual(
      expect.arrayContaining(['name', 'version', 'license', 'type', 'bin', 'exports', 'files', 'engines']),
    );
  });
});

describe('The repository', () => {
  it('cannot be published: npm rejects private packages', () => {
    expect(JSON.parse(json)).toHaveProperty('private', true);
  });

  it('cannot be packed by mistake: npm pack names the command to run instead', () => {
    const { status, stdout } = spawnSync('npm', ['pack', '--dry-run', '--foreground-scripts'], { encoding: 'utf8' });
    expect(status).not.toBe(0);
    expect(stdout).toContain('npm run package');
  });

  it.each(['package-lock.json', 'test/tools/package-lock.json'])(
    'has a lockfile that works with any registry: %s',
    (path) => {
      expect(readFileSync(path, 'utf8')).not.toMatch(/"resolved"|\.tgz|registry/);
    },
  );
});
