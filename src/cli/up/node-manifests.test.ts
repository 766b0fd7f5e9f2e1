import { expect, it } from 'vitest';
import { cpuMsOf } from '../../../test/expect/cpu-ms.ts';
import { ManifestError } from '../manifests/manifest.ts';
import { parseManifests } from '../manifests/parse-manifests.ts';
import { takeNodes } from './node-manifests.ts';

it('a Node with very much that is wrong is rejected soon, and in no more words than somebody reads', async () => {
  const labels = Array.from({ length: 20_000 }, (_, index) => `$${index}: 1`).join(', ');
  const { manifests } = parseManifests(
    'a.yaml',
    `apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {${labels}}}\n`,
  );
  let rejected: unknown;
  const ms = await cpuMsOf(() => {
    try {
      takeNodes(manifests, { cpu: '1' });
    } catch (error) {
      rejected = error;
    }
  });
  expect(ms).toBeLessThan(5_000);
  expect(rejected).toBeInstanceOf(ManifestError);
  expect((rejected as ManifestError).problems).toHaveLength(101);
  expect((rejected as ManifestError).problems.at(-1)).toBe('a.yaml, document 1: and there is more');
});
