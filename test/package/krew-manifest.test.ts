import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const folder = mkdtempSync(join(tmpdir(), 'tutti-krew-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('The krew manifest', () => {
  it('installs the program of a tarball as kubectl tutti', () => {
    const tarball = join(folder, 'tutti-scheduler-0.1.0.tgz');
    writeFileSync(tarball, 'content');
    const uri = 'https://downloads.example/tutti-scheduler-0.1.0.tgz';
    const { stdout, status } = spawnSync(process.execPath, ['scripts/krew-manifest.ts', tarball, uri], {
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
    const manifest = parse(stdout);
    expect(manifest).toMatchObject({ kind: 'Plugin', metadata: { name: 'tutti' }, spec: { version: `v${version}` } });
    expect(manifest.spec.platforms).toHaveLength(4);
    for (const platform of manifest.spec.platforms) {
      expect(platform).toMatchObject({
        uri,
        sha256: createHash('sha256').update('content').digest('hex'),
        bin: 'dist/cli.js',
      });
    }
    expect(JSON.parse(readFileSync('package.json', 'utf8'))).toMatchObject({
      bin: { 'kubectl-tutti': 'dist/cli.js', 'kubectl_complete-tutti': 'dist/cli.js' },
    });
  });

  it('needs the tarball and where it will be', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/krew-manifest.ts'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([2, 'usage: node scripts/krew-manifest.ts TARBALL URI\n']);
  });
});
